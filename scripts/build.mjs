// npm run build: compile everything, and check the types of the tests.
import { setUp } from './set-up.mjs';

setUp();
