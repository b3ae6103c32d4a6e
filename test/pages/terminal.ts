import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killOnExit } from '../support/kill-on-exit.js';
import { until } from '../support/until.js';

/** A reader's machine: a network of its own, so that every port is free, and a clone in which to type. */
export interface Machine {
  /** Process that keeps the network and the clone alive. */
  pid: number;
  /** The clone, in which each terminal starts. Only processes of the machine see it. */
  clone: string;
  /** Home folder, which also contains the files of the terminals. */
  home: string;
  /** Write a file into the clone. */
  write(file: string, text: string): void;
  /** Whether a process whose command contains this text is running. */
  runs(text: string): boolean;
  /** Kill all processes of the machine. */
  stop(): Promise<void>;
}

/**
 * Start a machine whose clone shows the files of a checkout. Writes to the clone don't reach the checkout.
 *
 * @param home an empty folder
 */
export async function startMachine(checkout: string, home: string): Promise<Machine> {
  const folder = (name: string) => {
    mkdirSync(join(home, name));
    return join(home, name);
  };
  const clone = folder('yardmaster');
  /** Mount a folder at another path, and store what is written there in the home folder. */
  const layer = (shown: string, at: string) => {
    const name = at.replaceAll('/', '-');
    return `mount -t overlay overlay -o lowerdir=${shown},upperdir=${folder(`upper${name}`)},workdir=${folder(`work${name}`)} ${at}`;
  };
  const steps = [
    'ip link set lo up',
    layer(checkout, clone),
    `rm -rf ${clone}/.data`,
    layer('/etc', '/etc'),
    layer('/var/lib', '/var/lib'),
    'mkdir -p /etc/redis && printf "dir /var/lib/redis\nappendonly yes\n" > /etc/redis/redis.conf',
    'echo 127.0.0.1 redis.example.com replica.example.com >> /etc/hosts',
    'echo up',
    'exec sleep infinity',
  ];
  const args = [
    ...(isRoot ? [] : ['--map-root-user']),
    '--net',
    '--mount',
    '--pid',
    '--mount-proc',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    steps.join(' && '),
  ];
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const forget = killOnExit(child);
  await once(child.stdout, 'data');
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  return {
    pid,
    clone,
    home,
    write(file, input) {
      execFileSync(
        'nsenter',
        [...enter(pid), 'sh', '-c', `mkdir -p "$(dirname "$1")" && cat > "$1"`, 'sh', join(clone, file)],
        { input },
      );
    },
    runs: (text) => spawnSync('nsenter', [...enter(pid), 'pgrep', '-f', text]).status === 0,
    async stop() {
      child.kill('SIGKILL'); // All processes of the machine end with it.
      await once(child, 'close');
      forget();
    },
  };
}

const isRoot = process.getuid?.() === 0;

const enter = (pid: number) => [
  ...['-t', String(pid), '--net', '--mount', '--pid'],
  ...(isRoot ? [] : ['--user', '--preserve-credentials']),
];

/** A terminal that runs bash. */
export interface Terminal {
  /** Paste a block of commands, and wait until all have finished. @returns the commands that failed, each with its line and code */
  paste(code: string): Promise<string[]>;
  /** Paste a block without waiting for it. */
  start(code: string): void;
  /** Whether a process in the terminal has a TCP socket that listens or is connected. */
  hasSocket(): boolean;
  /** Whether everything that was pasted has finished. */
  isIdle(): boolean;
  /** The commands that have failed so far. */
  failures(): string[];
  /** What the terminal has shown since the last block was pasted. */
  screen(): string;
  /** Save the variables that were set in this terminal, so that another one can start with them. @returns their file */
  variables(): Promise<string>;
  /** Press Ctrl-C, and wait until everything has finished. */
  interrupt(): Promise<void>;
  close(): void;
}

let terminals = 0;

/** Open a terminal on a machine. */
export function openTerminal(machine: Machine, env: Record<string, string>): Terminal {
  const { home, clone } = machine;
  const base = join(home, `terminal-${++terminals}`);
  const marks = `${base}.marks`;
  writeFileSync(marks, '');
  const shell = `cd ${clone}; stty cols 120 -echo; exec bash --norc --noprofile --noediting`;
  const child = spawn('nsenter', [...enter(machine.pid), 'script', '-qefc', shell, '/dev/null'], {
    env: { PATH: process.env.PATH as string, HOME: home, TERM: 'xterm', LANG: 'C.UTF-8', PS1: '', ...env },
    detached: true,
  });
  const forget = killOnExit({ pid: child.pid && -child.pid });
  let screen = '';
  let shown = 0;
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (screen += text));
  child.stdin.on('error', () => undefined);
  const type = (line: string) => child.stdin.write(`${line}\n`);
  type(`PS1= PS2=; trap 'echo "line $LINENO, exit $?: $BASH_COMMAND" >> ${marks}' ERR; set -Eu; MARKS_=$(compgen -v)`);

  let blocks = 0;
  const marked = () => readFileSync(marks, 'utf8').split('\n');
  const isIdle = () => marked().includes(`end ${blocks}`);
  const failures = () => marked().filter((line) => line.startsWith('line ') && !line.includes(`: . ${home}`));

  function start(code: string) {
    const file = `${base}.${++blocks}.sh`;
    writeFileSync(file, code);
    shown = screen.length;
    type(`. ${file}`);
    type(`echo "end ${blocks}" >> ${marks}`);
  }

  async function paste(code: string) {
    const before = failures().length;
    start(code);
    await until(isIdle).catch((cause) => {
      throw new Error(`the block does not end:\n${code}\nThe terminal shows:\n${screen.slice(-2_000)}`, { cause });
    });
    return failures().slice(before);
  }

  return {
    start,
    paste,
    isIdle,
    failures,
    screen: () => screen.slice(shown),
    hasSocket: () => processesUnder(child).some(hasSocket),
    async variables() {
      const file = `${base}.variables`;
      const names = `$(compgen -v | grep -vxF -e "$MARKS_" | grep -vE '^(MARKS_|_)$')`;
      await paste(
        `{ for NAME_ in ${names}; do [[ \${!NAME_@a} == *r* ]] || declare -p $NAME_; done; declare -f; } > ${file}`,
      );
      return file;
    },
    async interrupt() {
      if (isIdle()) return;
      child.stdin.write('\x03'); // This ends the whole block, and discards the lines typed after it.
      // A program that reads the keyboard itself may still consume this line.
      await until(async () => {
        type(`echo "end ${blocks}" >> ${marks}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
        return isIdle();
      });
    },
    close() {
      try {
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {} // It has ended with its machine.
      forget();
    },
  };
}

/** List a process and all its descendants. */
function processesUnder({ pid }: ChildProcess): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, parent] = /^\d+ \(.*\) \w (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      parents.set(Number(name), Number(parent));
    } catch {} // It has ended.
  }
  const found = [pid as number];
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found;
}

/** Whether a process has a TCP socket that listens or is connected. */
function hasSocket(pid: number): boolean {
  try {
    const open = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
    return ['tcp', 'tcp6'].some((table) =>
      readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/))
        .some(([, , , state, , , , , , inode]) => ['01', '0A'].includes(state ?? '') && open.has(`socket:[${inode}]`)),
    );
  } catch {
    return false; // It has ended.
  }
}
