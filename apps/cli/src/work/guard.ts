import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Shell program that reads `+<group>` and `-<group>` lines, and at the end of its input kills the process groups that are left. It
 * has a session of its own, so that neither a signal for the worker nor the end of its terminal reaches it.
 */
const GUARD = `
groups=' '
while read -r line; do
  case $line in
    +*) groups="$groups\${line#+} " ;;
    -*) group=\${line#-}; case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
`;

let input: Writable | null = null;

function tell(line: string): void {
  if (input === null) {
    const guard = spawn('/bin/sh', ['-c', GUARD], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    guard.on('error', () => undefined); // Without a shell, programs outlive a worker that gets SIGKILL.
    guard.unref();
    if (!guard.stdin) return; // There was no free file descriptor.
    input = guard.stdin;
    (input as unknown as { unref(): void }).unref(); // It is a socket, which its type does not say.
    input.on('error', () => undefined);
  }
  input.write(`${line}\n`);
}

/** Make sure that a process group does not outlive this process, even if it gets SIGKILL. */
export const guard = (group: number) => tell(`+${group}`);

/** Forget a process group that has ended. */
export const unguard = (group: number) => tell(`-${group}`);
