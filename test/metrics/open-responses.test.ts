import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { OpenResponses } from '../../packages/backend/src/metrics/open-responses.js';

const response = () => new ServerResponse(new IncomingMessage(new Socket()));

describe('OpenResponses', () => {
  it('know those that were added and not taken out, in their order, wherever one is taken out', () => {
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
      [2, 0, 3, 1],
    ]) {
      const open = new OpenResponses();
      const all = [response(), response(), response(), response()];
      for (const res of all) open.add(res);
      const left = [...all];
      for (const n of order) {
        const res = all[n] as ServerResponse;
        expect(open.delete(res)).toBe(true);
        expect(open.delete(res)).toBe(false);
        left.splice(left.indexOf(res), 1);
        expect(open.all()).toEqual(left);
      }
      const later = response();
      open.add(later);
      expect(open.all()).toEqual([later]);
    }
  });
});
