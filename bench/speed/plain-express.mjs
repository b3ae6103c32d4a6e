// The same server as an Express app is usually written: `express.json()`, `res.json()`, `http.createServer(app)`. Endpoints,
// keys, scopes, schemas, verbs, scripts, metrics and time-outs are the API's own.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { ROUTES } from '@yardmaster/api';
import {
  authenticate,
  authorize,
  BACKEND_VARIABLES,
  createBackend,
  createFront,
  errorBody,
  FRONT_VARIABLES,
  protectServer,
  redisBudgetMs,
  routeIs,
  runApp,
  SERVER_OPTIONS,
  within,
} from '@yardmaster/backend';
import { spaceId as spaceIdSchema, validate, YardmasterError } from '@yardmaster/protocol';
import express from 'express';

function create(config, log) {
  const backend = createBackend(config, log);
  const { store, keyRing } = backend;
  const budgetMs = redisBudgetMs(store);
  const app = express();
  app.use((_req, res, next) => {
    res.set('x-request-id', randomUUID());
    res.set('cache-control', 'no-store');
    res.set('x-content-type-options', 'nosniff');
    next();
  });
  app.use(express.json({ limit: config.MAX_BODY_BYTES, strict: false }));
  for (const route of ROUTES) {
    app[route.method.toLowerCase()](route.path, async (req, res) => {
      routeIs(res, route.path);
      const { spaceId, jobId = '', keyId = '' } = req.params;
      if (spaceId !== undefined) validate(spaceIdSchema, spaceId, 'spaceId');
      const caller = await within(budgetMs, authenticate(backend, req, req.headers['x-api-key']));
      authorize(caller, route.scopes, spaceId);
      const input = route.body ? validate(route.body, req.body ?? {}) : undefined;
      const work = route.run({
        store,
        keyRing,
        callbackMasters: [],
        caller,
        spaceId: spaceId ?? '',
        jobId,
        keyId,
        input,
      });
      res.status(route.created ? 201 : 200).json(await within(budgetMs, work));
    });
  }
  app.use((thrown, _req, res, _next) => {
    const error = thrown instanceof YardmasterError ? thrown : new YardmasterError('INTERNAL');
    res.status(error.status).json(errorBody(error));
  });
  const server = protectServer(http.createServer(SERVER_OPTIONS, app), backend.metrics.requests);
  return createFront({ name: 'plain-express', backend, server, config, log });
}

const variables = [...BACKEND_VARIABLES, ...FRONT_VARIABLES, 'MAX_BODY_BYTES', 'LOG_LEVEL'];
await runApp({ name: 'plain-express', env: process.env, variables, create });
