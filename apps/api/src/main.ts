import { runApp } from '@yardmaster/server';
import { API_VARIABLES, createApi } from './api.js';

await runApp({ name: 'api', env: process.env, variables: API_VARIABLES, create: createApi });
