/** Ctrl-C in a terminal reaches a process several times where `npm` or `npx` pass it on too. Milliseconds. */
const ONE_PRESS_MS = 250;

/**
 * Counts presses of Ctrl-C: the first is 1.
 * @returns the function that stops it and gives Ctrl-C its usual effect back, and one for presses that come as a key
 */
export function onInterrupt(pressed: (count: number) => void): { stop(): void; press(): void } {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  const press = () => {
    const now = performance.now();
    const again = now - last < ONE_PRESS_MS;
    last = now;
    if (again) return;
    count += 1;
    pressed(count);
  };
  process.on('SIGINT', press);
  return { press, stop: () => process.removeListener('SIGINT', press) };
}
