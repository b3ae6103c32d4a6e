import { CLOSE_CODES, spaceStreamType } from '@yardmaster/protocol';
import { VERSION } from '../version.js';
import { PARAMETERS } from './request.js';
import { JSON_TYPE, type JsonSchema, namedSchemas, schemasIn } from './schemas.js';

/** Create the AsyncAPI 3.0 document of the streams from the zod schemas of their messages. */
export function asyncApiDocument(): Record<string, unknown> {
  const full = messagesOf('Full');
  const progress = messagesOf('Progress');
  const space = messagesOf('Space');
  const all = [...full, ...progress, ...space];
  const payloads = Object.fromEntries(all.map(({ id, payload }) => [id, payload]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Yardmaster streams',
      version: VERSION,
      description: ABOUT,
      license: { name: 'MIT' },
    },
    defaultContentType: JSON_TYPE,
    servers: { plain: serverOf('ws'), secure: serverOf('wss') },
    channels: {
      jobStream: channelOf('/api/v1/realtime/{jobId}', JOB_CHANNEL, [...full, ...progress]),
      spaceStream: channelOf('/api/v1/realtime/spaces/{spaceId}', SPACE_CHANNEL, space),
    },
    operations: {
      sendJobEvents: operationOf('jobStream', full, { ...SECURED, summary: 'Every event of a job' }),
      sendJobProgress: operationOf('jobStream', progress, { summary: 'The progress of a job, and its completion' }),
      sendSpaceEvents: operationOf('spaceStream', space, {
        ...SECURED,
        summary: 'Every event of every job of a space',
      }),
    },
    components: {
      schemas: { ...payloads, ...schemasIn(payloads) },
      messages: Object.fromEntries(all.map(({ id, message }) => [id, message])),
      securitySchemes: {
        apiKey: {
          type: 'httpApiKey',
          name: 'x-api-key',
          in: 'header',
          description: 'An API key or a stream token with the scope `jobs:read`',
        },
        token: {
          type: 'httpApiKey',
          name: 'token',
          in: 'query',
          description:
            'For pages, which cannot set headers: a stream token with the scope `jobs:read`. An API key works, too, but other programs may log it, because it is part of the URL',
        },
      },
    },
  };
}

interface Message {
  id: string;
  payload: JsonSchema;
  message: Record<string, unknown>;
}

/**
 * Return the messages of a kind of stream. Each has a payload of its own, so that generators name it. The schemas describe
 * when a message is sent.
 */
function messagesOf(kind: 'Full' | 'Progress' | 'Space'): Message[] {
  const { oneOf } = namedSchemas()[`${kind}Message`] as {
    oneOf: { description: string; properties: { type: { const: string } } }[];
  };
  return oneOf.map(({ description: summary, ...payload }) => {
    const type = payload.properties.type.const;
    const id = kind + type.replace(/(?:^|_)([a-z])/g, (_, first) => first.toUpperCase());
    const message = {
      name: type,
      title: id,
      summary,
      payload: { $ref: `#/components/schemas/${id}` },
    };
    return { id, payload, message };
  });
}

const serverOf = (protocol: 'ws' | 'wss') => ({
  host: '{host}',
  protocol,
  variables: { host: { default: '127.0.0.1:8080', description: 'Host and port of the service' } },
});

const TOKEN: JsonSchema = { type: 'string', description: 'A stream token or an API key, unless it is in a header' };

/** Parameters of the query of a space stream, beside the token. */
const FILTERS: Record<string, JsonSchema> = {
  name: { type: 'string', description: 'Name of the jobs to show. It may repeat' },
  type: { type: 'string', enum: spaceStreamType.options, description: 'Type of the events to show. It may repeat' },
};

interface Channel {
  parameter: keyof typeof PARAMETERS;
  description: string;
  query: Record<string, JsonSchema>;
}

const JOB_CHANNEL: Channel = {
  parameter: 'jobId',
  query: { token: TOKEN },
  description:
    'One job. With a token of the scope `jobs:read` it shows every event; with `jobs:read:progress`, or without a token, only the progress',
};

const SPACE_CHANNEL: Channel = {
  parameter: 'spaceId',
  query: { token: TOKEN, ...FILTERS },
  description: 'All jobs of a space, with a token of the scope `jobs:read`',
};

function channelOf(address: string, { parameter, description, query }: Channel, messages: readonly Message[]) {
  return {
    address,
    description,
    parameters: { [parameter]: { description: PARAMETERS[parameter].description } },
    messages: Object.fromEntries(messages.map(({ id }) => [id, { $ref: `#/components/messages/${id}` }])),
    bindings: {
      ws: { method: 'GET', query: { type: 'object', properties: query }, bindingVersion: '0.1.0' },
    },
  };
}

const SECURED = {
  security: [{ $ref: '#/components/securitySchemes/apiKey' }, { $ref: '#/components/securitySchemes/token' }],
};

/** Return an operation. In AsyncAPI it is what the service does: it sends. */
function operationOf(channel: string, messages: readonly Message[], more: { summary: string }) {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    ...more,
    messages: messages.map(({ id }) => ({ $ref: `#/channels/${channel}/messages/${id}` })),
  };
}

/** What a client does after each close. */
const CLOSES: Record<keyof typeof CLOSE_CODES, string> = {
  ended: 'the job has ended; stop',
  goingAway: 'this process is stopping; connect again',
  keyRevoked: 'the key was revoked or has expired, or no longer allows this stream; get another key, or stop',
  tooBig: 'the client sent a message of more than 1 KB; fix the client',
  interrupted: 'messages may be missing; connect again',
  tooSlow: 'the client reads too slowly; connect again, and read faster or watch less',
  tokenExpired: 'the stream token has expired; get another one',
};

const ABOUT = `A stream sends the events of jobs over a WebSocket as they happen, as JSON objects in text frames. The first message is \`init\`, with the current state. Every later event follows exactly once and in order. Ignore messages of a type that is not listed here, because later releases may add types and fields.

A GET of the same URL with \`accept: text/event-stream\` opens the same stream as server-sent events, which browsers read with \`EventSource\`. This document describes the WebSocket.

A stream is refused before the upgrade, with an HTTP status and the body \`{error, code}\`. The service ignores messages of clients.

| Close code | Meaning |
|---|---|
${Object.entries(CLOSES)
  .map(([reason, meaning]) => `| ${CLOSE_CODES[reason as keyof typeof CLOSE_CODES]} | ${meaning} |`)
  .join('\n')}`;
