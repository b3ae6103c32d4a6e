import { commentLines } from './model.mjs';

const PLAIN = { text: 'str', number: 'float', integer: 'int', boolean: 'bool', any: 'Any', object: 'Dict[str, Any]' };

function typeOf(type) {
  const text = plainTypeOf(type);
  return type.isNullable ? `Optional[${text}]` : text;
}

function plainTypeOf(type) {
  if (type.kind === 'named') return `"${type.name}"`;
  if (type.kind === 'enum') return `Literal[${type.values.map((value) => `"${value}"`).join(', ')}]`;
  if (type.kind === 'union') return `Union[${type.of.map(typeOf).join(', ')}]`;
  if (type.kind === 'map') return `Dict[str, ${typeOf(type.of)}]`;
  if (type.kind === 'list') return `List[${typeOf(type.of)}]`;
  return PLAIN[type.kind];
}

const comment = (text, indent) =>
  commentLines(text, 90)
    .map((line) => `${indent}# ${line}\n`)
    .join('');

const fieldLines = (fields) =>
  fields.map(({ name, type, description }) => `${comment(description, '    ')}    ${name}: ${typeOf(type)}\n`).join('');

/** Optional keys need a separate class, because Python 3.9 cannot mark a single key as optional. */
function declaration({ name, description, fields, type }) {
  if (fields === undefined) return `${comment(description, '')}${name} = ${typeOf(type)}\n`;
  const [required, optional] = [true, false].map((wanted) => fields.filter(({ isRequired }) => isRequired === wanted));
  const head = comment(description, '');
  if (optional.length === 0) return `${head}class ${name}(TypedDict):\n${fieldLines(required)}`;
  if (required.length === 0) return `${head}class ${name}(TypedDict, total=False):\n${fieldLines(optional)}`;
  const base = `_${name}Required`;
  return `class ${base}(TypedDict):\n${fieldLines(required)}\n\n${head}class ${name}(${base}, total=False):\n${fieldLines(optional)}`;
}

/** Generate the module of the Python SDK. */
export function pythonTypes(model, title) {
  // Aliases come last, because Python evaluates them when it loads the module.
  const [classes, aliases] = [true, false].map((wanted) =>
    model.filter(({ fields }) => (fields !== undefined) === wanted),
  );
  const body = [...classes, ...aliases].map(declaration).join('\n\n');
  const used = ['Any', 'Dict', 'List', 'Literal', 'Optional', 'TypedDict', 'Union'].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(body),
  );
  return `# ${title}\n# ruff: noqa\nfrom typing import ${used.join(', ')}\n\n\n${body}`;
}
