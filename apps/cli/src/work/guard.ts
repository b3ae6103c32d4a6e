import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Shell script that adds process groups to a set with `+<group>`, removes them with `-<group>`, and kills those left when
 * its input ends. It runs in its own session, so that signals sent to the worker or its terminal don't reach it.
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
    guard.on('error', () => undefined); // Without a shell, programs can outlive a worker that receives SIGKILL.
    guard.unref();
    if (!guard.stdin) return; // No file descriptor was free.
    input = guard.stdin;
    (input as unknown as { unref(): void }).unref(); // It is a socket, although its type doesn't say so.
    input.on('error', () => undefined);
  }
  input.write(`${line}\n`);
}

/** Ensure that a process group does not outlive this process, even after SIGKILL. */
export const guard = (group: number) => tell(`+${group}`);

/** Forget a process group that has ended. */
export const unguard = (group: number) => tell(`-${group}`);
