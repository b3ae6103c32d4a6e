import { script } from '../containers/set-up.mjs';
import tearDownEngine from '../containers/tear-down.mjs';

/** End the cluster, and then the engine that its images come from. */
export default function tearDown() {
  script('./cluster.sh', 'down');
  tearDownEngine();
}
