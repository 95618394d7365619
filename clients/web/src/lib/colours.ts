// Everybody's own colour, by their place in the game: light enough to stand on felt and on a card inside a dark outline.

const HANDS = [
  "#f0c04c",
  "#5cc8ff",
  "#ff8f70",
  "#9be36b",
  "#e29bff",
  "#ffd9a0",
  "#58e0c0",
  "#ff9ec4",
  "#b8c4ff",
  "#e8e36a",
];

/** The colour of the hands of the seat at that place; of whoever has none, the first. */
export function handColour(place: number | null): string {
  return HANDS[(place ?? 0) % HANDS.length] as string;
}
