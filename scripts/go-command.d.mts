export function goCommand(name: string): string;
