import { randomOf } from '../logs/random.js';
import { jsonBody } from './body.js';
import { usualFraming } from './framings.js';
import { changedAt, countOf, textOf, type Written, written } from './json-text.js';
import type { FuzzRequest } from './request.js';

/** Tries that one failure is worth. */
const TRIES = 200;

/** Every way to leave one thing out, the largest first. */
function* smaller(node: Written): Generator<Written> {
  for (let place = 0; place < Math.min(countOf(node), 500); place++) {
    let children = 0;
    changedAt(node, place, (each) => {
      children = 'items' in each ? each.items.length : 'members' in each ? each.members.length : 0;
      return each;
    });
    for (let i = 0; i < Math.min(children, 50); i++) {
      yield changedAt(node, place, (each) =>
        'items' in each
          ? { items: each.items.toSpliced(i, 1) }
          : 'members' in each
            ? { members: each.members.toSpliced(i, 1) }
            : each,
      );
    }
  }
}

const withBody = (request: FuzzRequest, node: Written): FuzzRequest => {
  const body = jsonBody(textOf(node));
  return { ...request, body, framing: usualFraming(randomOf(0), body.wire) };
};

/**
 * Make the body of a request that fails smaller, as long as it fails.
 *
 * @param fails whether it still does
 * @returns null when the body is no plain JSON, or matters not as such
 */
export async function shrunk(
  request: FuzzRequest,
  fails: (request: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest | null> {
  if (request.body?.text == null || request.framing.name !== 'usual') return null;
  let node: Written;
  try {
    node = written(JSON.parse(request.body.text.toString()));
  } catch {
    return null;
  }
  let tries = 0;
  if (!(await fails(withBody(request, node)))) return null;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smaller(node)) {
      if (++tries > TRIES) return withBody(request, node);
      if (!(await fails(withBody(request, candidate)))) continue;
      node = candidate;
      isSmaller = true;
      break;
    }
  }
  return withBody(request, node);
}
