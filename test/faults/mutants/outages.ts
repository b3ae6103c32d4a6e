import type { Mutant } from './mutant.js';

const STORE = 'packages/store/dist';
const BACKEND = 'packages/backend/dist';
const SCHEDULER = 'apps/scheduler/dist';
const OPTIONS = 'packages/runtime/dist/redis/options.js';

/** What is wrong with how outages, moves and upgrades are lived through. */
export const OF_OUTAGES: readonly Mutant[] = [
  {
    title: 'what has no answer is sent again',
    breaks: ['P3'],
    edits: [
      {
        file: OPTIONS,
        from: 'maxRetriesPerRequest: 0,\n        autoResendUnfulfilledCommands: false,',
        to: 'maxRetriesPerRequest: 20,\n        autoResendUnfulfilledCommands: true,',
      },
    ],
    loses: ['heartbeat'],
  },
  {
    title: 'a script does not look whether its slot is being moved',
    breaks: ['P16'],
    edits: [
      {
        file: `${STORE}/script-on-cluster.js`,
        from: "if type(probe) == 'table' and probe.err then return { 'SLOT_MOVING', probe.err } end",
        to: '',
      },
    ],
    under: 'F9-migration',
  },
  {
    title: 'no primary of a cluster is asked while one of them is away',
    breaks: ['P12'],
    edits: [
      {
        file: 'packages/runtime/dist/redis/command-cluster.js',
        from: "this.status !== 'ready' && command",
        to: "(this.status !== 'ready' || this.nodes('master').length < 3) && command",
      },
    ],
    under: 'F9-failover',
  },
  {
    title: 'a process that is told to stop cuts off who it serves',
    breaks: ['P15'],
    under: 'F25',
    edits: [
      {
        file: `${BACKEND}/http/drain.js`,
        from: 'const closed = stopListening(server);',
        to: 'const closed = stopListening(server);\n    server.closeAllConnections();',
      },
    ],
  },
  {
    title: 'schedulers wait for ticks of BullMQ and nothing else',
    breaks: ['P4'],
    under: 'F29',
    edits: [
      {
        file: `${SCHEDULER}/ticks.js`,
        from: 'if (sweeper.idleMs() < PATIENCE_MS)\n            return;',
        to: 'return;',
      },
    ],
  },
];
