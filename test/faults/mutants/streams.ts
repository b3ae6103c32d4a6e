import { SCRIPTS } from '../release.js';
import type { Mutant } from './mutant.js';

const STORE = 'packages/store/dist';
const GATEWAY = 'apps/gateway/dist';

/** What is wrong with what watchers are told. */
export const OF_STREAMS: readonly Mutant[] = [
  {
    title: 'watchers are not told of some events',
    breaks: ['P8'],
    edits: [
      {
        file: SCRIPTS,
        from: 'publish(job, seq, type, status, at, data)\nend',
        to: "if type ~= 'acked' then publish(job, seq, type, status, at, data) end\nend",
      },
    ],
  },
  {
    title: 'a gateway closes streams in the middle of their jobs',
    breaks: ['P8'],
    edits: [
      {
        file: `${GATEWAY}/job-feed.js`,
        from: 'session.deliver(framed);',
        to: 'session.deliver(framed);\n            if (seq === 4 && !framed.isTerminal) session.close(CLOSE_CODES.interrupted);',
      },
    ],
  },
  {
    title: 'streams without a key show the status of the job',
    breaks: ['P9'],
    edits: [
      {
        file: `${GATEWAY}/message.js`,
        from: 'progressMessageOf({ jobId, type, data, at })',
        to: 'progressMessageOf({ jobId, type, data, at, status })',
      },
      {
        file: `${GATEWAY}/message.js`,
        from: '{ jobId, type, data, timestamp }',
        to: '{ jobId, type, data, timestamp, status }',
      },
    ],
  },
  {
    title: 'a gateway does not read what a job has done while its channel was not heard',
    breaks: ['P8'],
    under: 'F19',
    edits: [
      {
        file: `${GATEWAY}/job-feed.js`,
        from: 'this.#newestLog = 0;\n        void this.#catchUp();',
        to: 'this.#newestLog = 0;',
      },
    ],
  },
  {
    title: 'the streams of a space go on when its channel was not heard',
    breaks: ['P8'],
    under: 'F19',
    edits: [
      {
        file: `${GATEWAY}/space-feed.js`,
        from: 'for (const session of this.sessions)\n            session.close(CLOSE_CODES.interrupted);\n    }\n    receive',
        to: '}\n    receive',
      },
    ],
  },
  {
    title: 'revocations are heard no more once their channel was lost',
    breaks: ['P14'],
    under: 'F19',
    edits: [
      {
        file: `${STORE}/subscriptions/connection.js`,
        from: '#lose() {',
        to: `#lose() {
        for (const channel of this.#listeners.keys())
            if (channel.endsWith(':revoked'))
                this.#listeners.delete(channel);`,
      },
    ],
  },
  {
    title: 'a gateway that is told to stop does not say so to its streams',
    breaks: ['P8'],
    under: 'F25',
    edits: [{ file: `${GATEWAY}/sessions.js`, from: 'session.close(CLOSE_CODES.goingAway);', to: 'session.cutOff();' }],
  },
];
