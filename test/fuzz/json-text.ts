/**
 * JSON as it is written, and not as it is read: it can hold a number that no double holds, a key twice, or what is no
 * JSON at all.
 */
export type Written = { text: string } | { items: Written[] } | { members: [key: string, value: Written][] };

/** Write a value down. */
export function written(value: unknown): Written {
  if (Array.isArray(value)) return { items: value.map(written) };
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value) ?? 'null' };
  return { members: Object.entries(value).map(([key, each]) => [key, written(each)]) };
}

export function textOf(node: Written): string {
  if ('text' in node) return node.text;
  if ('items' in node) return `[${node.items.map(textOf).join(',')}]`;
  return `{${node.members.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
}

const childrenOf = (node: Written): Written[] =>
  'text' in node ? [] : 'items' in node ? node.items : node.members.map(([, value]) => value);

/** How many values it holds, itself included. */
export const countOf = (node: Written): number => childrenOf(node).reduce((sum, child) => sum + countOf(child), 1);

/** The same with one of its values, counted from the top, changed. */
export function changedAt(node: Written, place: number, change: (node: Written) => Written): Written {
  if (place === 0) return change(node);
  let left = place - 1;
  const inChild = (child: Written): Written => {
    const here = left;
    left -= countOf(child);
    return here >= 0 && left < 0 ? changedAt(child, here, change) : child;
  };
  if ('items' in node) return { items: node.items.map(inChild) };
  if ('members' in node) return { members: node.members.map(([key, value]) => [key, inChild(value)]) };
  return node;
}
