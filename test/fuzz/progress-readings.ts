import { field, isNumber, isRecord, type JsonRecord, jsonFaults, type Reading, unless, wrong } from './fault.js';

const isStage = (value: unknown) =>
  isRecord(value) &&
  isNumber(field(value, 'percent'), 0, 100) &&
  ['string', 'undefined'].includes(typeof field(value, 'message'));

/** The fields of a report, and no others. */
const reported = (body: JsonRecord) =>
  Object.fromEntries(['percent', 'message'].flatMap((each) => (Object.hasOwn(body, each) ? [[each, body[each]]] : [])));

/** Read a progress report. */
export function readProgress(body: JsonRecord): Reading {
  const [message, stages] = [field(body, 'message'), field(body, 'subProgress')];
  const entries = isRecord(stages) ? Object.entries(stages) : [];
  const areStages =
    stages === undefined || (isRecord(stages) && entries.length <= 50 && entries.every(([, each]) => isStage(each)));
  const faults = [
    ...unless(isNumber(field(body, 'percent'), 0, 100), wrong('percent')),
    ...unless(typeof message === 'string' && message !== '', wrong('message')),
    ...unless(areStages, wrong('subProgress')),
  ];
  if (faults.length > 0) return { faults };
  const subProgress = Object.fromEntries(entries.map(([name, stage]) => [name, reported(stage as JsonRecord)]));
  const value = { ...reported(body), ...(stages === undefined ? {} : { subProgress }) };
  return { faults: jsonFaults(value, 'body', 65_536), value };
}
