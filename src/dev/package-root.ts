import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The directory of this package's package.json, from the sources as from a build. */
export function packageRoot(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, 'package.json'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error(`no package.json stands above ${import.meta.dirname}`);
    directory = parent;
  }
  return directory;
}
