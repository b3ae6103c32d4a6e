import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { CALL_EXIT, DONE, done, exitCodesHelp } from '../exit-codes.js';
import { type SpaceFlags, serviceOf } from '../flags.js';
import { type Column, tableOf } from '../terminal/table.js';
import { type Profile, pathOf, profileNamed, readConfig, writeConfig } from './config-file.js';

const HELP = exitCodesHelp(CALL_EXIT);

/** Read the name of a profile, and the path of the configuration file. */
const profileIn = ({ args: [name = ''], env }: CommandLine<SpaceFlags>) => ({ name, path: pathOf(env) });

/** `yardmaster config set`: saves a profile. */
const setProfileCommand = defineCommand({
  name: 'config set',
  example: 'config set prod --url https://yard.example.com --space demo --token - < key.txt',
  define: (command) =>
    command
      .description('Save a profile, or change some of its values.')
      .argument('<name>', 'name of the profile')
      .option('--url <url>', 'URL of the service; required for a new profile')
      .option('--token <key>', 'API key; - reads it from standard input, which keeps it out of the process list')
      .option('--space <spaceId>', 'default space')
      .addHelpText('after', HELP),
  parse(line: CommandLine<SpaceFlags>) {
    const { url, token, space } = line.flags;
    const target = profileIn(line);
    if (!/^[\w.-]+$/.test(target.name)) throw new UsageError('the name may contain only letters, digits, _, . and -');
    if (space === '') throw new UsageError('--space is empty');
    serviceOf(line.flags, {}); // Throws if the URL or the key is invalid.
    return { ...target, url, token, space };
  },
  async run({ name, path, url, token, space }, { out, readInput }) {
    const key = token === '-' ? (await readInput()).trim() : token;
    if (key !== undefined) serviceOf({ token: key }, {});
    const { current, profiles } = readConfig(path);
    const before = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    const address = url ?? before?.url;
    if (address === undefined) throw new UsageError('a new profile needs --url');
    const profile: Profile = { url: address, token: key ?? before?.token, space: space ?? before?.space };
    writeConfig(path, { current, profiles: { ...profiles, [name]: profile } });
    return done(out, [
      current === name ? `saved ${name}` : `saved ${name}; use it with: yardmaster config use ${name}`,
    ]);
  },
});

/** `yardmaster config use`: sets the current profile. */
const useProfileCommand = defineCommand({
  name: 'config use',
  example: 'config use prod',
  define: (command) =>
    command
      .description('Set the current profile, which all commands use by default.')
      .argument('<name>', 'name of the profile')
      .addHelpText('after', HELP),
  parse: profileIn,
  async run({ name, path }, { out }) {
    const { profiles } = readConfig(path);
    profileNamed(name, profiles);
    writeConfig(path, { current: name, profiles });
    return done(out, [`using ${name}`]);
  },
});

type Row = Profile & { name: string; isUsed: boolean };

const COLUMNS: Column<Row>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'CURRENT', of: ({ isUsed }) => (isUsed ? 'yes' : '') },
  { title: 'URL', of: ({ url }) => url },
  { title: 'SPACE', of: ({ space = '' }) => space },
  { title: 'KEY', of: ({ token }) => (token === undefined ? '' : 'set') },
];

/** `yardmaster config list`: lists the profiles, without their keys. */
const listProfilesCommand = defineCommand({
  name: 'config list',
  example: 'config list',
  define: (command) => command.description('List the profiles, without their keys.').addHelpText('after', HELP),
  parse: ({ env }: CommandLine<SpaceFlags>) => ({ path: pathOf(env), chosen: env.YARDMASTER_PROFILE || null }),
  async run({ path, chosen }, { out, err }) {
    const { current, profiles } = readConfig(path);
    const rows = Object.entries(profiles).map(([name, profile]) => ({
      ...profile,
      name,
      isUsed: name === (chosen ?? current),
    }));
    if (rows.length > 0) return done(out, tableOf(COLUMNS, rows, out));
    err.write('no profiles found\n');
    return DONE;
  },
});

/** `yardmaster config delete`: deletes a profile. */
const deleteProfileCommand = defineCommand({
  name: 'config delete',
  example: 'config delete prod',
  define: (command) =>
    command.description('Delete a profile.').argument('<name>', 'name of the profile').addHelpText('after', HELP),
  parse: profileIn,
  async run({ name, path }, { out }) {
    const { current, profiles } = readConfig(path);
    profileNamed(name, profiles);
    const { [name]: _, ...others } = profiles;
    writeConfig(path, { current: current === name ? null : current, profiles: others });
    return done(out, [`deleted ${name}`]);
  },
});

/** Commands for profiles, in the order of the help. */
export const configCommands = [setProfileCommand, useProfileCommand, listProfilesCommand, deleteProfileCommand];
