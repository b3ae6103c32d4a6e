import { commentLines } from './model.mjs';

const PLAIN = {
  text: 'string',
  number: 'float64',
  integer: 'int',
  boolean: 'bool',
  any: 'json.RawMessage',
  object: 'json.RawMessage',
};

const upper = (text) => text[0].toUpperCase() + text.slice(1);
/** Go writes initialisms in capitals. */
const goName = (text) =>
  upper(text)
    .replace(/Id(?=$|[A-Z])/g, 'ID')
    .replace(/Url(?=$|[A-Z])/g, 'URL');

/** A value that may be absent or null is a pointer, unless its type has a nil of its own. */
function typeOf(type, isOptional = false) {
  const text = plainTypeOf(type);
  const hasNil = /^(json\.RawMessage|\[\]|map\[)/.test(text);
  return (type.isNullable || isOptional) && !hasNil ? `*${text}` : text;
}

function plainTypeOf(type) {
  if (type.kind === 'named') return goName(type.name);
  if (type.kind === 'enum') return 'string';
  if (type.kind === 'union') return 'json.RawMessage';
  if (type.kind === 'map') return `map[string]${typeOf(type.of)}`;
  if (type.kind === 'list') return `[]${typeOf(type.of)}`;
  return PLAIN[type.kind];
}

const comment = (text, indent) =>
  commentLines(text)
    .map((line) => `${indent}// ${line}\n`)
    .join('');

/** Pad the columns of lines that follow each other, as gofmt does. A line that begins with a comment begins a new block. */
function aligned(lines) {
  const blocks = [];
  for (const line of lines) {
    if (line.comment !== '' || blocks.length === 0) blocks.push([]);
    blocks.at(-1).push(line);
  }
  const widthOf = (block, i) => Math.max(...block.map(({ columns }) => columns[i].length));
  return blocks.flatMap((block) =>
    block.map(({ comment: before, columns }) => {
      const padded = columns.map((text, i) => (i === columns.length - 1 ? text : text.padEnd(widthOf(block, i))));
      return `${before}\t${padded.join(' ')}\n`;
    }),
  );
}

const fieldLine = ({ name, type, isRequired, description }) => ({
  comment: comment(description, '\t'),
  columns: [goName(name), typeOf(type, !isRequired), `\`json:"${name}${isRequired ? '' : ',omitempty'}"\``],
});

/** Go has no unions: a struct has the fields of all variants, of which those that not every variant has are optional. */
function structOfUnion(names, model) {
  const variants = names.map(({ name }) => model.find((each) => each.name === name).fields);
  const fields = new Map();
  for (const field of variants.flat()) if (!fields.has(field.name)) fields.set(field.name, field);
  return [...fields.values()].map((field) => {
    const isInAll = variants.every((each) => each.some(({ name, isRequired }) => name === field.name && isRequired));
    return { ...field, isRequired: isInAll };
  });
}

function declaration({ name, description, fields, type }, model) {
  const goesBy = goName(name);
  const lines = commentLines(description);
  const head = comment(lines.length > 0 ? `${goesBy}: ${lines.join(' ')}` : `${goesBy} is a value of the API.`, '');
  const isUnion = type?.kind === 'union' && type.of.every(({ kind }) => kind === 'named');
  const all = isUnion ? structOfUnion(type.of, model) : fields;
  if (all !== undefined) return `${head}type ${goesBy} struct {\n${aligned(all.map(fieldLine)).join('')}}\n`;
  if (type.kind !== 'enum') return `${head}type ${goesBy} = ${typeOf(type)}\n`;
  const constant = (value) => `${goesBy}${value.toLowerCase().split(/[_:]/).map(upper).join('')}`;
  const values = aligned(
    type.values.map((value) => ({ comment: '', columns: [constant(value), `${goesBy} = "${value}"`] })),
  );
  return `${head}type ${goesBy} string\n\n// Values of ${goesBy}.\nconst (\n${values.join('')})\n`;
}

/** Return the file of the Go SDK, as gofmt writes it except for the alignment of columns. */
export function goTypes(model, title) {
  // The variants of a union are part of its struct.
  const variants = new Set(
    model.flatMap(({ type }) => (type?.kind === 'union' ? type.of.map(({ name }) => name) : [])),
  );
  const body = model
    .filter(({ name }) => !variants.has(name))
    .map((each) => declaration(each, model))
    .join('\n');
  return `// Code generated: DO NOT EDIT.\n// ${title}\n\n// Package wire has the types of the requests and responses of Yardmaster.\npackage wire\n\nimport "encoding/json"\n\n${body}`;
}
