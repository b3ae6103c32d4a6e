import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goCommand } from '../../scripts/go-command.mjs';
import { ROOT, run } from './commands.js';

const { withRegistry } = await import(`${ROOT}scripts/release/registry.mjs`);

/**
 * Write an OCI layout as image.mjs makes it: one index of images for two platforms. Each image has one small file,
 * because only Docker could build the real one.
 *
 * @param dir an existing folder
 * @param content of the file
 */
export async function writeImage(dir: string, layout: string, content: string): Promise<void> {
  const crane = (...args: string[]) => {
    const { status, output } = run(goCommand('crane'), args);
    if (status !== 0) throw new Error(output);
  };
  writeFileSync(join(dir, 'file'), content);
  run('tar', ['cf', join(dir, 'layer.tar'), '-C', dir, 'file']);
  await withRegistry((registry: string) => {
    const of = (name: string) => `${registry}/fake:${name}`;
    for (const name of ['amd64', 'arm64']) {
      crane('append', '--oci-empty-base', '--new_layer', join(dir, 'layer.tar'), '--new_tag', of(name));
      crane('mutate', of(name), '--set-platform', `linux/${name}`, '--tag', of(name));
    }
    crane('index', 'append', '--manifest', of('amd64'), '--manifest', of('arm64'), '--tag', of('all'));
    crane('pull', '--format=oci', of('all'), layout);
  });
}
