// Random numbers for tests; the seed is printed, and SEED repeats a run.

import { Random } from "../fake/random";

export function seeded(name: string): Random {
  const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
  console.log(`${name}: seed ${seed}`);
  return new Random(seed);
}
