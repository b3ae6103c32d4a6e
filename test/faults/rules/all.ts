import { answers } from './answers.js';
import { attempts } from './attempts.js';
import { callbacks } from './callbacks.js';
import { closes } from './closes.js';
import { creates } from './creates.js';
import { deliveries } from './deliveries.js';
import { drained } from './drained.js';
import { effects } from './effects.js';
import { eventSeq } from './event-seq.js';
import { fsckRule } from './fsck.js';
import { handOuts } from './hand-outs.js';
import { handed } from './handed.js';
import { lateness } from './lateness.js';
import { logs } from './logs.js';
import { neverEarly } from './never-early.js';
import { order } from './order.js';
import { results } from './results.js';
import type { Rule } from './rule.js';
import { scopes } from './scopes.js';
import { streams } from './streams.js';
import { transitions } from './transitions.js';

/** Every rule, in the order of the promises. */
export const RULES: readonly Rule[] = [
  creates,
  handOuts,
  handed,
  order,
  transitions,
  attempts,
  effects,
  results,
  deliveries,
  logs,
  neverEarly,
  lateness,
  drained,
  callbacks,
  streams,
  closes,
  scopes,
  answers,
  eventSeq,
  fsckRule,
];
