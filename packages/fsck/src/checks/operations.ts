import { retryUnavailable } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, repairFlagOf } from '../faults.js';
import { check_operation } from '../scripts.generated.js';

/** Look for running operations that no scheduler would step. */
export async function checkOperations(
  checked: CheckContext,
  operations: { key: string; operationId: string }[],
): Promise<Fault[]> {
  const { store } = checked;
  const faults = await Promise.all(
    operations.map(async ({ key, operationId }) => {
      const { state } = await retryUnavailable(() =>
        runScript(store, check_operation, {
          keys: { record: key },
          args: { base: store.keys.baseOfJob(operationId), id: operationId, isRepairing: repairFlagOf(checked) },
        }),
      );
      const at = { jobId: null, key, detail: `operation ${operationId} is not listed as running` };
      return state === '' ? [] : [faultOf('operation_stopped', at, state === 'repaired' ? 'repaired' : '')];
    }),
  );
  return faults.flat();
}
