// Convert the published schemas of the Kubernetes API to strict JSON schemas for kubeconform: one file per group, kind and
// version. They reject fields that the API does not have.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/**
 * Return the file name of a schema, as configured for kubeconform in the chart tests. The core group is named by its
 * version.
 */
const fileOf = ({ group, kind, version }) => `${group || version}_${kind.toLowerCase()}_${version}.json`;

/** Definitions that are only `string`, although the API also accepts numbers. */
const STRING_OR_NUMBER = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
};

/** Return a schema in which every object with listed fields rejects any others. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const fields = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] || schema['x-kubernetes-embedded-resource'];
  const listsFields = schema.properties !== undefined && typeof schema.properties.type !== 'string';
  if (listsFields && schema.additionalProperties === undefined && !isOpen) fields.additionalProperties = false;
  return fields;
}

/**
 * Write the schemas of the built-in kinds of Kubernetes.
 *
 * @param source folder of the module k8s.io/kubernetes
 */
export function writeKubernetesSchemas(source, folder) {
  const { definitions } = JSON.parse(readFileSync(join(source, 'api/openapi-spec/swagger.json'), 'utf8'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'definitions.json'),
    JSON.stringify({ definitions: closed({ ...definitions, ...STRING_OR_NUMBER }) }),
  );
  for (const [name, definition] of Object.entries(definitions)) {
    // Some definitions, such as DeleteOptions, belong to every group.
    const kinds = definition['x-kubernetes-group-version-kind'] ?? [];
    if (kinds.length !== 1) continue;
    writeFileSync(join(folder, fileOf(kinds[0])), JSON.stringify({ $ref: `definitions.json#/definitions/${name}` }));
  }
}

/**
 * Write the schemas of a custom resource, one per version.
 *
 * @param file CustomResourceDefinition in YAML
 */
export function writeCustomSchemas(file, folder) {
  const { group, names, versions } = parse(readFileSync(file, 'utf8')).spec;
  mkdirSync(folder, { recursive: true });
  for (const { name: version, schema } of versions) {
    const root = closed(schema.openAPIV3Schema);
    root.properties.metadata = { type: 'object' };
    writeFileSync(join(folder, fileOf({ group, kind: names.kind, version })), JSON.stringify(root));
  }
}
