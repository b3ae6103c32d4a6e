import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { boundedArray, boundedText } from '../schema/fields.js';

/** Records contain the tags of a job with a newline in between, so a tag must not contain one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it refuses them
const WITHOUT_CONTROL = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** A tag of a job, or one to look for. */
export const tag = boundedText(LIMITS.tagCharacters)
  .regex(WITHOUT_CONTROL, { error: 'must not contain control characters' })
  .meta({
    minLength: 1,
    maxLength: LIMITS.tagCharacters,
    description: 'Well-formed Unicode without control characters',
  });

const checkedTags = boundedArray(tag, { max: LIMITS.tags, what: 'tags', error: 'must be an array of strings' })
  .superRefine((tags, ctx) => {
    const first = tags.findIndex((one, i) => tags.indexOf(one) < i);
    if (first >= 0) ctx.addIssue({ code: 'custom', message: 'must not be given twice', path: [first] });
  })
  .transform((tags) => (tags.length === 0 ? null : tags));

/** Field `tags` of Create Job, in the order of the request; null for none. */
export const tagsRequest = describeAs(checkedTags, z.array(tag).max(LIMITS.tags).meta({ uniqueItems: true }));
