import { runApp } from '@yardmaster/server';
import { createGateway, GATEWAY_VARIABLES } from './gateway.js';

await runApp({ name: 'gateway', env: process.env, variables: GATEWAY_VARIABLES, create: createGateway });
