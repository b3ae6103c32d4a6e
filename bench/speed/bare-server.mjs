// A node:http server without features.
import http from 'node:http';

/** Serve the text and status returned by a function of the URL and the body. */
export function serveBare(respond) {
  const server = http.createServer((req, res) => {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', async () => {
      const { text, status } = await respond(req.url, Buffer.concat(chunks));
      res.writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
      });
      res.end(text);
    });
  });
  server.keepAliveTimeout = 75_000; // As in the API: clients stay connected while other contestants have their turns.
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
  });
  process.on('SIGTERM', () => process.exit(0));
}
