import { goCommand } from '../../go-command.mjs';
import { run } from '../settings.mjs';

/** By the identity of the workflow, or in a rehearsal with a key, which must leave nothing in the public log. */
function how() {
  const key = process.env.COSIGN_KEY;
  return key ? ['--yes', '--key', key, '--use-signing-config=false', '--tlog-upload=false'] : ['--yes'];
}

/** Sign an artefact by its digest, because a tag can be moved. The signature of an index covers all that it lists. */
export const sign = (ref) => run(goCommand('cosign'), ['sign', ...how(), ref]);

/** Sign a file. The signature and its certificate are in the bundle. */
export const signFile = (file, bundle) => run(goCommand('cosign'), ['sign-blob', ...how(), '--bundle', bundle, file]);
