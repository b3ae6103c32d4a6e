import { runApp } from '@yardmaster/server';
import { createScheduler, SCHEDULER_VARIABLES } from './scheduler.js';

await runApp({ name: 'scheduler', env: process.env, variables: SCHEDULER_VARIABLES, create: createScheduler });
