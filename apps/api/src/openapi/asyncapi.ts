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
      sendJobProgress: operationOf('jobStream', progress, { summary: 'Progress and completion of a job' }),
      sendSpaceEvents: operationOf('spaceStream', space, {
        ...SECURED,
        summary: 'Every event of every job in a space',
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
            'A stream token with the scope `jobs:read`, for web pages, which cannot set headers. An API key also works, but as part of the URL it may end up in logs',
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
 * Return the messages of a kind of stream. Each has its own named payload, for code generators. Its summary is the
 * description of its schema.
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

const TOKEN: JsonSchema = { type: 'string', description: 'A stream token or an API key, if not sent in a header' };

/** Query parameters of a space stream in addition to the token. */
const FILTERS: Record<string, JsonSchema> = {
  name: { type: 'string', description: 'Only events of jobs with this name; may be repeated' },
  type: { type: 'string', enum: spaceStreamType.options, description: 'Only events of this type; may be repeated' },
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
    'Stream of one job. With the scope `jobs:read` it sends every event; with `jobs:read:progress`, or without a token, only progress and completion',
};

const SPACE_CHANNEL: Channel = {
  parameter: 'spaceId',
  query: { token: TOKEN, ...FILTERS },
  description: 'Stream of all jobs in a space. Requires the scope `jobs:read`',
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

/** Return an operation. AsyncAPI describes it from the side of the service, which sends. */
function operationOf(channel: string, messages: readonly Message[], more: { summary: string }) {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    ...more,
    messages: messages.map(({ id }) => ({ $ref: `#/channels/${channel}/messages/${id}` })),
  };
}

/** What each close code means, and what to do about it. */
const CLOSES: Record<keyof typeof CLOSE_CODES, string> = {
  ended: 'The job has ended. Stop.',
  goingAway: 'This process is shutting down. Reconnect.',
  keyRevoked: 'The key was revoked or has expired, or no longer allows this stream. Get another key, or stop.',
  tooBig: 'The client sent a message of more than 1 KB. Fix the client.',
  interrupted: 'Messages may be missing. Reconnect.',
  tooSlow: 'The client reads too slowly. Reconnect, and read faster or watch less.',
  tokenExpired: 'The stream token has expired. Get a new one.',
};

const ABOUT = `A stream sends the events of jobs over a WebSocket as they happen, as JSON objects in text frames. The first message is \`init\`, with the current state. Every later event follows exactly once and in order. Ignore messages of any type not listed here, because later releases may add types and fields.

To receive the same stream as server-sent events, which browsers read with \`EventSource\`, send a GET of the same URL with \`Accept: text/event-stream\`. This document describes the WebSocket.

If a stream is refused, you get an HTTP status and the body \`{error, code}\` instead of an upgrade. The service ignores messages from clients.

| Close code | Meaning |
|---|---|
${Object.entries(CLOSES)
  .map(([reason, meaning]) => `| ${CLOSE_CODES[reason as keyof typeof CLOSE_CODES]} | ${meaning} |`)
  .join('\n')}`;
