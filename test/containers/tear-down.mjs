/** End the engine, if these tests have started it. */
import { script } from './set-up.mjs';

export default () => void script('./engine.sh', 'down');
