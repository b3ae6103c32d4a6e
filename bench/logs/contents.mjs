// What the jobs hold that are searched, and what they are searched for.
import { realistic } from './bodies.mjs';

const FILLING = 'all work and no play '.repeat(760).slice(0, 15_900);

/**
 * `entry` makes the nth entry; a `batch` of so many is below 1 MB. The searches are named by how much they find.
 */
export const CONTENTS = [
  {
    what: 'Lines as workers write them',
    entry: realistic,
    batch: 1_000,
    searches: [
      { finds: 'nothing', query: 'q=none+of+these' },
      { finds: 'few', query: 'q=%22part+99%22+reset' },
      { finds: 'many', query: 'q=get+jpg' },
      { finds: 'a level', query: 'level=error' },
    ],
  },
  {
    what: 'As large as may be',
    entry: (n) => `${FILLING}${n % 997 === 0 ? 'needle' : 'hay'} ${n}`,
    batch: 60,
    searches: [
      { finds: 'nothing', query: 'q=none+of+these' },
      { finds: 'few', query: 'q=needle' },
      { finds: 'many', query: 'q=play+hay' },
    ],
  },
];
