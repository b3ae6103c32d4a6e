import { commentLines } from './model.mjs';

const PLAIN = {
  text: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  any: 'unknown',
  object: 'Record<string, unknown>',
};

function typeOf(type) {
  const text = plainTypeOf(type);
  return type.isNullable ? `${text} | null` : text;
}

function plainTypeOf(type) {
  if (type.kind === 'named') return type.name;
  if (type.kind === 'enum') return type.values.map((value) => `'${value}'`).join(' | ');
  if (type.kind === 'union') return type.of.map(typeOf).join(' | ');
  if (type.kind === 'map') return `Record<string, ${typeOf(type.of)}>`;
  if (type.kind === 'list') {
    const of = typeOf(type.of);
    return of.includes(' ') ? `(${of})[]` : `${of}[]`;
  }
  return PLAIN[type.kind];
}

function comment(text, indent) {
  const lines = commentLines(text);
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

function declaration({ name, description, fields, type }) {
  const head = comment(description, '');
  if (fields === undefined) return `${head}export type ${name} = ${typeOf(type)};\n`;
  const lines = fields.map(
    (field) =>
      `${comment(field.description, '  ')}  ${field.name}${field.isRequired ? '' : '?'}: ${typeOf(field.type)};\n`,
  );
  return `${head}export interface ${name} {\n${lines.join('')}}\n`;
}

/** Generate the module of the TypeScript SDK. */
export const typeScriptTypes = (model, title) => `// ${title}\n\n${model.map(declaration).join('\n')}`;
