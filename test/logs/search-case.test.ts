import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { messagesFound, titled } from './searching.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
});
afterAll(() => service.stop());

it.each(
  titled([
    { q: 'disk', finds: ['DISK', 'Disk', 'dIsK'], not: ['desk'] },
    { q: 'DISK', finds: ['DISK', 'Disk', 'disk'], not: ['desk'] },
    { q: '"Disk FULL"', finds: ['dISK full'], not: ['FULL disk'] },
    { q: 'é', finds: ['É', 'CAFÉ', 'café'], not: ['e', 'è', 'Ê'] },
    { q: 'É', finds: ['É', 'CAFÉ', 'café'], not: ['E', 'È', 'ê'] },
    { q: 'ÆØÅ', finds: ['æøå', 'ÆØÅ', 'Æøå'], not: ['aoa'] },
    { q: 'straße', finds: ['STRASSE', 'Straße', 'strasse'], not: ['strase'] },
    { q: 'STRASSE', finds: ['STRASSE', 'Straße', 'strasse'], not: ['strase'] },
    { q: 'strasse', finds: ['STRASSE', 'Straße', 'strasse'], not: ['strase'] },
    { q: 'ὀδυσσεύς', finds: ['ὈΔΥΣΣΕΎΣ', 'ὀδυσσεύσ', 'ὀδυσσεύς'], not: ['οδυσσευς'] },
    { q: 'οδος', finds: ['ΟΔΟΣ', 'οδος', 'οδοσ'], not: ['οδο'] },
    { q: 'σ', finds: ['Σ', 'σ', 'ς'], not: ['s', 'o'] },
    { q: 'ς', finds: ['Σ', 'σ', 'ς'], not: ['s', 'o'] },
    { q: 'ПРИВЕТ', finds: ['привет', 'Привет'], not: ['приве'] },
    { q: 'ﬁ', finds: ['file', 'FILE', 'ﬁle'], not: ['fle'] },
    { q: 'ẞ', finds: ['ß', 'SS', 'ss', 'ẞ'], not: ['s'] },
    { q: 'k', finds: ['K', '\u212a'], not: ['κ'] },
    { q: 'å', finds: ['Å', '\u212b'], not: ['a'] },
    { q: 'ω', finds: ['Ω', '\u2126'], not: ['o'] },
    { q: 'ϴ', finds: ['θ', 'Θ', 'ϴ'], not: ['o'] },
    { q: 'i', finds: ['I', 'İ'], not: ['l'] },
    { q: '𐐀', finds: ['𐐨', '𐐀'], not: ['𐐩'] },
  ]),
)('$title is found in upper and in lower case', async ({ q, finds, not }) => {
  expect(await messagesFound(service, [...not, ...finds, ...not], q)).toEqual(finds);
});
