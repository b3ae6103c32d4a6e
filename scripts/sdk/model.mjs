// Convert JSON Schemas to types that every language has. A type is one of
//
//   { kind: 'text' | 'number' | 'integer' | 'boolean' | 'any' | 'object' }   an `object` can have any fields
//   { kind: 'list' | 'map', of: type }
//   { kind: 'enum', values }                                                 texts
//   { kind: 'named', name }                                                  a declared type
//   { kind: 'union', of: types }
//
// with `isNullable`. A declared type is { name, description, fields } or { name, description, type }. A field is
// { name, type, isRequired, description }. Nested objects and enums are declared with a name derived from their position.

const upper = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * Return the declared types that some schemas need.
 *
 * @param schemas schemas by name
 * @param wanted names of the schemas
 * @param renamed names in the SDKs, by schema name
 */
export function modelOf(schemas, wanted, renamed) {
  const declared = new Map();
  const nameOf = (schema) => renamed[schema] ?? schema;

  function named(schema) {
    const name = nameOf(schema);
    if (!declared.has(name)) {
      declared.set(name, null); // It can refer to itself.
      declared.set(name, declarationOf(name, schemas[schema]));
    }
    return { kind: 'named', name };
  }

  function declarationOf(name, schema) {
    const { description = '' } = schema;
    if (schema.properties === undefined) return { name, description, type: typeOf(schema, name) };
    const fields = Object.entries(schema.properties).map(([field, of]) => ({
      name: field,
      type: typeOf(of, `${name}${upper(field)}`),
      isRequired: schema.required?.includes(field) === true,
      description: of.description ?? '',
    }));
    return { name, description, fields };
  }

  /** @param place name of a type declared for this schema, if it needs one */
  function typeOf(schema, place) {
    const variants = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined;
    if (schema.$ref !== undefined) return named(schema.$ref.split('/').at(-1));
    if (variants !== undefined) return variantsOf(variants, place);
    if (Array.isArray(schema.type)) {
      const [type] = schema.type.filter((each) => each !== 'null');
      return { ...typeOf({ ...schema, type }, place), isNullable: true };
    }
    return plainTypeOf(schema, place);
  }

  function plainTypeOf(schema, place) {
    if (schema.enum !== undefined) return enumOf(schema, place);
    if (schema.type === 'string' && schema.const !== undefined) return { kind: 'enum', values: [schema.const] };
    if (schema.type === 'array') return { kind: 'list', of: typeOf(schema.items, place) };
    if (schema.type === 'object') return objectOf(schema, place);
    return { kind: { string: 'text', number: 'number', integer: 'integer', boolean: 'boolean' }[schema.type] ?? 'any' };
  }

  function variantsOf(variants, place) {
    const others = variants.filter(({ type }) => type !== 'null');
    const isNullable = others.length < variants.length;
    const types = others.map((variant, i) => typeOf(variant, `${place}${i || ''}`));
    const type = types.length === 1 ? types[0] : { kind: 'union', of: types };
    return isNullable ? { ...type, isNullable } : type;
  }

  /** Equal enums share the name of the first, such as ErrorCode. */
  function enumOf({ enum: values }, place) {
    const name = values.includes('INVALID_REQUEST') ? 'ErrorCode' : place;
    const text = JSON.stringify(values);
    const known = [...declared.values()].find(
      (each) => each?.type?.values && JSON.stringify(each.type.values) === text,
    );
    if (known) return { kind: 'named', name: known.name };
    if (declared.has(name)) return { kind: 'enum', values }; // the schema itself, which is being declared
    declared.set(name, { name, description: '', type: { kind: 'enum', values } });
    return { kind: 'named', name };
  }

  function objectOf(schema, place) {
    if (schema.properties !== undefined) {
      declared.set(place, declarationOf(place, schema));
      return { kind: 'named', name: place };
    }
    const { additionalProperties: of } = schema;
    return typeof of === 'object' ? { kind: 'map', of: typeOf(of, `${place}Value`) } : { kind: 'object' };
  }

  for (const schema of wanted) named(schema);
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Break a description into lines of a comment. */
export function commentLines(text, width = 100) {
  const lines = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
