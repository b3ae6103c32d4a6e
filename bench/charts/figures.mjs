// How figures are written in the documentation: as many digits as they are worth, and thousands apart.

const apart = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ' ');

/** Decimals that a figure of this size is worth: 0.42, 4.3, 12.5, 412. */
function decimalsOf(value) {
  if (value === 0 || Math.abs(value) >= 100) return 0;
  return Math.abs(value) < 1 ? 2 : 1;
}

/** A figure of three digits at most, or with so many decimals: `0.42`, `4.3`, `412`, `15 600`. */
export function figure(value, decimals) {
  const rounded = decimals === undefined && Math.abs(value) >= 1_000 ? Number(value.toPrecision(3)) : value;
  const [integer, fraction] = rounded.toFixed(decimals ?? decimalsOf(value)).split('.');
  return fraction === undefined ? apart(integer) : `${apart(integer)}.${fraction}`;
}

/** A median with its quartiles, with the digits of the median: `412 (398–431)`. */
export function spread({ median, low, high }) {
  const decimals = median >= 1_000 ? undefined : decimalsOf(median);
  return `${figure(median, decimals)} (${figure(low, decimals)}–${figure(high, decimals)})`;
}

/** A count: `64`, `1 000 000`. */
export const whole = (number) => figure(number, 0);

/** How many times as much: `× 1.8`, `× 0.56`, `× 12`; or with so many decimals. */
export const ratio = (value, decimals) => `× ${figure(value, decimals ?? (value >= 10 ? 0 : undefined))}`;

/** Bytes as megabytes: `80 MB`, `7.4 MB`. */
export const megabytes = (bytes) => `${figure(bytes / 1_048_576, bytes < 10_485_760 ? 1 : 0)} MB`;

/** A part of the whole: `31 %`, `0.4 %`. */
export const percent = (part) => `${figure(part * 100, part < 0.1 ? 1 : 0)} %`;
