// The API as an ordinary Express app: `express.json()`, `res.json()`, `http.createServer(app)`. Endpoints, keys, scopes, schemas,
// verbs, scripts, metrics and time-outs are those of the API.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { ROUTES } from '@yardmaster/api';
import { spaceId as spaceIdSchema, validate, YardmasterError } from '@yardmaster/protocol';
import {
  authenticate,
  authorize,
  createHttpService,
  createServerContext,
  errorBody,
  HTTP_SERVICE_VARIABLES,
  protectServer,
  redisBudgetMs,
  runApp,
  SERVER_CONTEXT_VARIABLES,
  SERVER_OPTIONS,
  setRoute,
  within,
} from '@yardmaster/server';
import express from 'express';

function create(config, log) {
  const context = createServerContext(config, log);
  const { store, authenticator } = context;
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
      setRoute(res, route.path);
      const { spaceId, jobId = '', keyId = '' } = req.params;
      if (spaceId !== undefined) validate(spaceIdSchema, spaceId, 'spaceId');
      const caller = await within(budgetMs, authenticate(context, req, req.headers['x-api-key']));
      authorize(caller, route.scopes, spaceId);
      const input = route.body ? validate(route.body, req.body ?? {}) : undefined;
      const work = route.handler({
        store,
        authenticator,
        callbackMasters: [],
        caller,
        spaceId: spaceId ?? '',
        jobId,
        keyId,
        input,
        header: null,
        streamUrlOf: null,
      });
      res.status(route.status ?? 200).json(await within(budgetMs, work));
    });
  }
  app.use((thrown, _req, res, _next) => {
    const error = thrown instanceof YardmasterError ? thrown : new YardmasterError('INTERNAL');
    res.status(error.status).json(errorBody(error));
  });
  const server = protectServer(http.createServer(SERVER_OPTIONS, app), context.metrics.requests);
  return createHttpService({ name: 'plain-express', context, server, config, log });
}

const variables = [...SERVER_CONTEXT_VARIABLES, ...HTTP_SERVICE_VARIABLES, 'MAX_BODY_BYTES', 'LOG_LEVEL'];
await runApp({ name: 'plain-express', env: process.env, variables, create });
