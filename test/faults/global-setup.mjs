// Begins .cache/faults/results.json with what figures were measured on; with FAULT_ADD=true what is in it stays.
// Jest runs this by itself, where no module of the tests is to be had.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findRedisServer } from '@yardmaster/runtime';
import { machineWith } from '../../bench/machine.mjs';

const inCache = (path) => fileURLToPath(new URL(`../../.cache/${path}`, import.meta.url));
const FILE = inCache('faults/results.json');
const EMPTY = { faults: [], seeds: [], runs: [], mutants: [] };

export default async function beginResults() {
  const redis = await redisVersion();
  const machine = machineWith(redis);
  const date = new Date().toISOString().slice(0, 10);
  const before = process.env.FAULT_ADD === 'true' ? await readResults() : EMPTY;
  await mkdir(inCache('faults'), { recursive: true });
  await writeFile(FILE, JSON.stringify({ ...before, machine, redis, node: machine.node, date }));
}

async function redisVersion() {
  const { command, args } = await findRedisServer(inCache('redis'), (line) => process.stdout.write(`${line}\n`));
  const { stdout } = await promisify(execFile)(command, [...args, '--version']);
  return /v=(\S+)/.exec(stdout)[1];
}

async function readResults() {
  try {
    return JSON.parse(await readFile(FILE, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return EMPTY; // Nothing to add to.
    throw error;
  }
}
