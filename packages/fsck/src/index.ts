export { FAULTS, type Fault, type FaultKind } from './faults.js';
export { FsckError, type FsckProgress, fsck } from './fsck.js';
