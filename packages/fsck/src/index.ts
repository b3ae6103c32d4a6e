export { runFsck, runShow, type Variables } from './commands.js';
export { FAULTS, type Fault, type FaultKind } from './faults.js';
export { FsckError, type FsckProgress, fsck } from './fsck.js';
export { reasonOf } from './open-store.js';
export type { StoredRecord } from './record.js';
