// The faces one may have, each with the name of whoever gives none.

import type { faces } from "../messages";

type FaceName = keyof ReturnType<(typeof faces)["get"]>;

export const FACES: readonly (readonly [emoji: string, name: FaceName])[] = [
  ["🦊", "fox"],
  ["🦉", "owl"],
  ["🐸", "frog"],
  ["🐻", "bear"],
  ["🐱", "cat"],
  ["🐶", "dog"],
  ["🦁", "lion"],
  ["🐼", "panda"],
  ["🐙", "octopus"],
  ["🦄", "unicorn"],
  ["🐧", "penguin"],
  ["🐢", "turtle"],
  ["🐝", "bee"],
  ["🐳", "whale"],
  ["🐲", "dragon"],
  ["👻", "ghost"],
  ["👽", "alien"],
  ["🤠", "cowboy"],
  ["👵", "grandma"],
  ["👴", "grandpa"],
  ["🌵", "cactus"],
  ["🍄", "mushroom"],
  ["🍕", "pizza"],
  ["🚀", "rocket"],
];
