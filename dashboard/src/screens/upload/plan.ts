/** Parts of an upload: few enough requests for many files, small enough to be sent again. */

export const MOST_FILES = 200;
export const MOST_BYTES = 32 * 1024 * 1024;

/** Puts files together in order. A file that is larger than a part is a part of its own. */
export class PartPlanner<F extends { size: number }> {
  private files: F[] = [];
  private bytes = 0;

  /** The parts that are full now. */
  add(file: F): F[][] {
    const full: F[][] = [];
    if (this.files.length > 0 && this.bytes + file.size > MOST_BYTES) full.push(this.flush());
    this.files.push(file);
    this.bytes += file.size;
    if (this.files.length >= MOST_FILES || this.bytes >= MOST_BYTES) full.push(this.flush());
    return full;
  }

  /** The files that wait for more of them; they leave the planner. */
  flush(): F[] {
    const part = this.files;
    this.files = [];
    this.bytes = 0;
    return part;
  }

  get isEmpty(): boolean {
    return this.files.length === 0;
  }
}
