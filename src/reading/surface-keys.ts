/**
 * Places on a session's surface (contract §5), without the surface itself. A node is named by its event's seq. Its place,
 * the key, is that seq for an appended node; a replacement takes the key of the first node that it shadows. Keys order
 * the surface, and only live replacements have to be remembered: for all others the key is the seq.
 */
export class SurfaceKeys {
  readonly #replacements = new Map<number, number>();

  /** The key of the node of event `seq`. */
  keyOf(seq: number): number {
    return this.#replacements.get(seq) ?? seq;
  }

  /** Whether `seq` is a replacement that stands on the surface. */
  isReplacement(seq: number): boolean {
    return this.#replacements.has(seq);
  }

  /**
   * Puts the node of event `seq` in the place of a span.
   * @param start - first node of the span, by its event's seq
   * @param end - last node of the span
   * @returns the keys of the span, both inclusive
   */
  replace(seq: number, start: number, end: number): { from: number; to: number } {
    const from = this.keyOf(start);
    const to = this.keyOf(end);
    // Pruning replaces single nodes, often; only compaction, which is rare, has to look at all of them.
    if (start === end) this.#replacements.delete(start);
    else {
      for (const [node, key] of this.#replacements) {
        if (key >= from && key <= to) this.#replacements.delete(node);
      }
    }
    this.#replacements.set(seq, from);
    return { from, to };
  }
}
