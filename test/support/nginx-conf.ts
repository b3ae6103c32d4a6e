import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Addresses, `host:port`, of the processes of each kind. */
export interface Upstreams {
  api: string[];
  gateway: string[];
}

const docs = (name: string) => readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8');

/** Replace texts that must exist, so that no test runs with an unintended configuration. */
export function replaceAll(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`not in the configuration of nginx: ${from}`);
    return result.replaceAll(from, to);
  }, text);
}

/** Put addresses of this machine into a configuration's upstreams: one `server` per process, with the same parameters. */
function withUpstreams(text: string, upstreams: Upstreams): string {
  return Object.entries(upstreams).reduce((result, [name, addresses]) => {
    const server = new RegExp(`(upstream yardmaster_${name} \\{[^}]*?\\n)( *)server \\S+?:\\d+([^;]*);`);
    if (!server.test(result)) throw new Error(`no server in upstream yardmaster_${name}`);
    return result.replace(server, (_, before, indent, parameters) => {
      const lines = addresses.map((address: string) => `${indent}server ${address}${parameters};`);
      return `${before}${lines.join('\n')}`;
    });
  }, text);
}

const tempPaths = (dir: string) =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((it) => `${it}_temp_path ${dir}/${it};`).join('\n    ');

/** The nginx.conf of a distribution, which includes the files of docs/. */
const frame = `
pid /run/nginx.pid;
error_log /var/log/nginx/error.log;
worker_processes 1;
events {}
http {
    include /etc/nginx/conf.d/upstreams.conf;
    include /etc/nginx/conf.d/yardmaster.conf;
}
`;

/**
 * Return the files that nginx runs with. They are those of docs/ with other addresses and paths, in the nginx.conf of a
 * distribution.
 *
 * @returns text by name below `dir`; `nginx.conf` is the main file
 */
export function nginxFiles({ dir, port, upstreams, site }: NginxFilesOptions): Record<string, string> {
  const here = {
    '/run/nginx.pid': `${dir}/nginx.pid`,
    '/etc/nginx/conf.d/': `${dir}/`,
    '/var/log/nginx/': `${dir}/`,
    'http {': `http {\n    ${tempPaths(dir)}`,
  };
  return {
    'nginx.conf': `daemon off;\n${replaceAll(frame, here)}`,
    'yardmaster.conf': replaceAll(docs(site), {
      'listen 80;': `listen 127.0.0.1:${port};`,
      '/var/log/nginx/': `${dir}/`,
    }),
    'upstreams.conf': withUpstreams(docs('nginx-upstreams.conf'), upstreams),
  };
}

export interface NginxFilesOptions {
  dir: string;
  port: number;
  upstreams: Upstreams;
  /** The file of docs/ with the `server`. */
  site: string;
}
