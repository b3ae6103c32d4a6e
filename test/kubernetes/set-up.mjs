// Have a Kubernetes of one machine, before the tests of the chart in it.
import setUpEngine, { have } from '../containers/set-up.mjs';

export default function setUp() {
  setUpEngine();
  if (process.env.TEST_NO_ENGINE === '') have('./cluster.sh');
}
