// Written by `python -m tools.protocol_ts` from wire/ and engine/. Do not edit.

export const PROTOCOL = 3 as const;

export const MAX_SEATS = 10 as const;

export const CODE_SYMBOLS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ" as const;

export const CODE_LENGTH = 6 as const;

export const EMOJIS = [
  "👏",
  "😂",
  "😮",
  "😭",
  "😡",
  "🎉",
  "👋",
  "🤝"
] as const;

export const SWITCHES = {
  "game": "Slapjack; Duel, a Slapjack for two with elimination rounds; or War, where luck decides.",
  "queens": "Queens may be slapped as well as Jacks.",
  "doubles": "A card may be slapped when the one right below has the same rank.",
  "sandwiches": "A card may be slapped when the one two below has the same rank.",
  "won_pile": "How a won pile goes to its winner: shuffled and put under, turned over and put under, or shuffled in.",
  "penalty": "The card of a wrong slap goes to whoever turned the slapped card, or under the pile.",
  "min_show_ms": "How long every card stays on top at least, in milliseconds.",
  "slap_moment_ms": "How long everybody sees a won slap before the next card, in milliseconds.",
  "card_limit": "The game ends after so many turned cards, and most cards win; 0 plays on.",
  "time_limit_min": "The game ends after so many minutes, and most cards win; 0 plays on.",
  "call": "A hand counts only with the call “Slapjack!”.",
  "say_jack": "Saying “Jack!” is the slap: there is nothing to hit.",
  "wrong_call": "A called wrong slap costs no card, but the pile is dealt to the others.",
  "hand": "Whoever turned the card slaps it with any hand, with the other one, with the same one, or not at all.",
  "show_jacks": "The cards to slap are laid out for all to see before the deal.",
  "judge": "What is too close to call is decided by the dealer, or by somebody at the table who is not playing.",
  "calm": "The game waits after every card until everybody has slapped or carried on, and wrong slaps are free.",
  "ace_high": "In War the Ace beats the King.",
  "war_cards": "In a war each player puts one card face down, or three.",
  "plain_names": "Names are made up by the table, so that nobody has to type one.",
  "reactions": "Players may send each other emoji."
} as const;

export const PRESETS = {
  "standard": {
    "name": "Standard",
    "sentence": "Slap the Jacks and win every card.",
    "rules": {
      "game": "slapjack",
      "queens": false,
      "doubles": false,
      "sandwiches": false,
      "won_pile": "shuffle_under",
      "penalty": "to_turner",
      "min_show_ms": 800,
      "slap_moment_ms": 900,
      "card_limit": 0,
      "time_limit_min": 0,
      "call": false,
      "say_jack": false,
      "wrong_call": false,
      "hand": "any",
      "show_jacks": false,
      "judge": "dealer",
      "calm": false,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": false,
      "reactions": true
    },
    "reaction_ms": 600
  },
  "little_kids": {
    "name": "Little kids",
    "sentence": "Slower, with Queens as well, and nobody pays another player.",
    "rules": {
      "game": "slapjack",
      "queens": true,
      "doubles": false,
      "sandwiches": false,
      "won_pile": "shuffle_under",
      "penalty": "under_pile",
      "min_show_ms": 1500,
      "slap_moment_ms": 900,
      "card_limit": 0,
      "time_limit_min": 0,
      "call": false,
      "say_jack": false,
      "wrong_call": false,
      "hand": "any",
      "show_jacks": true,
      "judge": "dealer",
      "calm": false,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": true,
      "reactions": false
    },
    "reaction_ms": 900
  },
  "calm": {
    "name": "Calm",
    "sentence": "Little kids without the rush: the game waits for everybody after every card.",
    "rules": {
      "game": "slapjack",
      "queens": true,
      "doubles": false,
      "sandwiches": false,
      "won_pile": "shuffle_under",
      "penalty": "under_pile",
      "min_show_ms": 1500,
      "slap_moment_ms": 0,
      "card_limit": 0,
      "time_limit_min": 0,
      "call": false,
      "say_jack": false,
      "wrong_call": false,
      "hand": "any",
      "show_jacks": true,
      "judge": "dealer",
      "calm": true,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": true,
      "reactions": false
    },
    "reaction_ms": 900
  },
  "house_party": {
    "name": "House party",
    "sentence": "Queens, doubles and sandwiches, most cards after 300, and the table judges close calls.",
    "rules": {
      "game": "slapjack",
      "queens": true,
      "doubles": true,
      "sandwiches": true,
      "won_pile": "shuffle_under",
      "penalty": "to_turner",
      "min_show_ms": 800,
      "slap_moment_ms": 900,
      "card_limit": 300,
      "time_limit_min": 0,
      "call": false,
      "say_jack": false,
      "wrong_call": false,
      "hand": "any",
      "show_jacks": false,
      "judge": "table",
      "calm": false,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": false,
      "reactions": true
    },
    "reaction_ms": 600
  },
  "shout": {
    "name": "Shout",
    "sentence": "Slap with the hand that did not turn and call “Slapjack!”, and beware of calling wrongly.",
    "rules": {
      "game": "slapjack",
      "queens": false,
      "doubles": false,
      "sandwiches": false,
      "won_pile": "shuffle_under",
      "penalty": "to_turner",
      "min_show_ms": 800,
      "slap_moment_ms": 900,
      "card_limit": 0,
      "time_limit_min": 0,
      "call": true,
      "say_jack": false,
      "wrong_call": true,
      "hand": "other",
      "show_jacks": false,
      "judge": "dealer",
      "calm": false,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": false,
      "reactions": true
    },
    "reaction_ms": 600
  },
  "duel": {
    "name": "Duel",
    "sentence": "Two players, doubles and sandwiches, and elimination rounds.",
    "rules": {
      "game": "duel",
      "queens": false,
      "doubles": true,
      "sandwiches": true,
      "won_pile": "shuffle_in",
      "penalty": "to_turner",
      "min_show_ms": 800,
      "slap_moment_ms": 900,
      "card_limit": 0,
      "time_limit_min": 0,
      "call": false,
      "say_jack": false,
      "wrong_call": false,
      "hand": "any",
      "show_jacks": false,
      "judge": "dealer",
      "calm": false,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": false,
      "reactions": true
    },
    "reaction_ms": 600
  },
  "war": {
    "name": "War",
    "sentence": "Two players and nothing to slap: the higher card wins.",
    "rules": {
      "game": "war",
      "queens": false,
      "doubles": false,
      "sandwiches": false,
      "won_pile": "shuffle_under",
      "penalty": "to_turner",
      "min_show_ms": 800,
      "slap_moment_ms": 0,
      "card_limit": 0,
      "time_limit_min": 0,
      "call": false,
      "say_jack": false,
      "wrong_call": false,
      "hand": "any",
      "show_jacks": false,
      "judge": "dealer",
      "calm": false,
      "ace_high": false,
      "war_cards": "one",
      "plain_names": false,
      "reactions": true
    },
    "reaction_ms": 600
  }
} as const;

export const RANKS_TOO = {
  "queens": "Q"
} as const;

export const STATEMENTS = {
  "turns": {
    "sentence": "Turn your top card onto the pile when it is your turn: clockwise, past who has none.",
    "rules": [
      "R3"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  },
  "slap": {
    "sentence": "Slap a Jack: the first hand takes the whole pile.",
    "rules": [
      "R4",
      "R11"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  },
  "queens": {
    "sentence": "Queens may be slapped too.",
    "rules": [
      "R11"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "queens": [
        true
      ]
    }
  },
  "doubles": {
    "sentence": "Slap a double: two cards of one rank, one on the other.",
    "rules": [
      "R11"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "doubles": [
        true
      ]
    }
  },
  "sandwiches": {
    "sentence": "Slap a sandwich: one rank, with one card between.",
    "rules": [
      "R11"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "sandwiches": [
        true
      ]
    }
  },
  "next": {
    "sentence": "The seat at the winner's left turns next, onto a new pile.",
    "rules": [
      "R5"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  },
  "covered": {
    "sentence": "A Jack that is covered before any hand is safe: wait for the next.",
    "rules": [
      "R6"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  },
  "pays_turner": {
    "sentence": "Slap anything else and it costs you a card, which goes to whoever turned the card that you slapped.",
    "rules": [
      "R7"
    ],
    "when": {
      "game": [
        "slapjack"
      ],
      "penalty": [
        "to_turner"
      ],
      "calm": [
        false
      ]
    }
  },
  "pays_pile": {
    "sentence": "Slap anything else and it costs you a card, which goes under the pile.",
    "rules": [
      "R7"
    ],
    "when": {
      "game": [
        "slapjack"
      ],
      "penalty": [
        "under_pile"
      ],
      "calm": [
        false
      ]
    }
  },
  "pays_other": {
    "sentence": "Slap anything else and it costs you a card, which goes to the other player.",
    "rules": [
      "R7",
      "R20"
    ],
    "when": {
      "game": [
        "duel"
      ],
      "calm": [
        false
      ]
    }
  },
  "waiting": {
    "sentence": "Out of cards, you have one last chance: win the next slap and you are back. Somebody else wins it, or you slap wrongly: you are out.",
    "rules": [
      "R8"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "calm": [
        false
      ]
    }
  },
  "wins": {
    "sentence": "Whoever is left at the end wins.",
    "rules": [
      "R9"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  },
  "taken_back": {
    "sentence": "Is every card turned? Whoever turned the last one takes the pile back.",
    "rules": [
      "R10"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  },
  "odds": {
    "sentence": "One card in 13 is a Jack.",
    "rules": [
      "R11"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "queens": [
        false
      ]
    }
  },
  "odds_queens": {
    "sentence": "Two cards in 13 are Jacks or Queens.",
    "rules": [
      "R11"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "queens": [
        true
      ]
    }
  },
  "call": {
    "sentence": "Call “Slapjack!” as you slap, or your hand does not count.",
    "rules": [
      "R13"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "call": [
        true
      ]
    }
  },
  "say_jack": {
    "sentence": "Say “Jack!”: that is the slap.",
    "rules": [
      "R13a"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "say_jack": [
        true
      ]
    }
  },
  "wrong_call": {
    "sentence": "Call wrongly and the pile is dealt to the others.",
    "rules": [
      "R14"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "wrong_call": [
        true
      ]
    }
  },
  "other": {
    "sentence": "Slap a card of your own with the hand that did not turn it.",
    "rules": [
      "R15"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "hand": [
        "other"
      ]
    }
  },
  "same": {
    "sentence": "Slap a card of your own with the hand that turned it.",
    "rules": [
      "R15"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "hand": [
        "same"
      ]
    }
  },
  "not_turner": {
    "sentence": "A card that you turned is for the others to slap.",
    "rules": [
      "R15"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ],
      "hand": [
        "not_turner"
      ]
    }
  },
  "judge": {
    "sentence": "What is too close to call is judged by somebody who is not playing.",
    "rules": [
      "R18"
    ],
    "when": {
      "judge": [
        "table"
      ]
    }
  },
  "calm": {
    "sentence": "The game waits for everybody after every card, and a wrong slap is free.",
    "rules": [
      "R19"
    ],
    "when": {
      "calm": [
        true
      ]
    }
  },
  "duel": {
    "sentence": "Out of cards in Duel: the other turns every card and only Jacks count. Who slaps one wins it: with cards the duel, without cards the pile. The empty one who slaps wrongly has lost.",
    "rules": [
      "R20"
    ],
    "when": {
      "game": [
        "duel"
      ]
    }
  },
  "king": {
    "sentence": "Both turn a card. The higher one takes both: King high, Ace low.",
    "rules": [
      "R21"
    ],
    "when": {
      "game": [
        "war"
      ],
      "ace_high": [
        false
      ]
    }
  },
  "ace": {
    "sentence": "Both turn a card. The higher one takes both: the Ace beats the King.",
    "rules": [
      "R21"
    ],
    "when": {
      "game": [
        "war"
      ],
      "ace_high": [
        true
      ]
    }
  },
  "war_one": {
    "sentence": "Equal cards are a war: one card face down, one face up.",
    "rules": [
      "R22"
    ],
    "when": {
      "game": [
        "war"
      ],
      "war_cards": [
        "one"
      ]
    }
  },
  "war_three": {
    "sentence": "Equal cards are a war: three face down, one face up.",
    "rules": [
      "R22"
    ],
    "when": {
      "game": [
        "war"
      ],
      "war_cards": [
        "three"
      ]
    }
  },
  "war_end": {
    "sentence": "Your last card in a war lies face up. No card left for it: you have lost.",
    "rules": [
      "R23"
    ],
    "when": {
      "game": [
        "war"
      ]
    }
  },
  "tip": {
    "sentence": "Both hands at the edge, and watch the cards, not the hands.",
    "rules": [
      "R16"
    ],
    "when": {
      "game": [
        "slapjack",
        "duel"
      ]
    }
  }
} as const;

export const OFFER_FROM_CARDS = 300 as const;

export const OFFER_EVERY_CARDS = 100 as const;

export const RATED_FROM_GAMES = 10 as const;

export const FIGURES = {
  "wins": {
    "name": "Wins",
    "field": "wins",
    "unit": "number",
    "slaps": false
  },
  "rate": {
    "name": "Rate",
    "field": "rate",
    "unit": "share",
    "slaps": false
  },
  "best": {
    "name": "Best",
    "field": "best_us",
    "unit": "us",
    "slaps": true
  },
  "median": {
    "name": "Median",
    "field": "median_us",
    "unit": "us",
    "slaps": true
  },
  "streak": {
    "name": "Streak",
    "field": "streak",
    "unit": "number",
    "slaps": false
  },
  "games": {
    "name": "Games",
    "field": "games",
    "unit": "number",
    "slaps": false
  }
} as const;

export type Emoji = (typeof EMOJIS)[number];

/**
 * The first message on a socket. `key` is the secret that an earlier `Welcome` gave, or empty for a newcomer.
 *
 * With `watch` the person does not want a seat. A `program` says so: its games do not count among people's (R30).
 */
export type Join = {
  t: "join";
  name: string;
  face: string;
  key?: string;
  watch?: boolean;
  protocol?: number;
  program?: boolean;
};

/** Asks for the room's clock. `sent_us` is the phone's own and comes back as it was. */
export type Sync = {
  t: "sync";
  sent_us: number;
};

/** Card `nth` was painted, `late_us` after its moment: said where the update with the card asks for it. */
export type Shown = {
  t: "shown";
  game: number;
  nth: number;
  late_us: number;
};

/** In answer to `AnyHand`: every hand on card `nth` that has come down here has been said. */
export type AllSaid = {
  t: "all_said";
  game: number;
  nth: number;
};

/** Which hand acted (R15); computers and clients that do not say have none. */
export type Side =
  | "left"
  | "right"
  | "";

/** Turn a card, `nth` being the number it will have. `reaction_us` runs from the painting of the card it covers. */
export type DoTurn = {
  t: "turn";
  game: number;
  nth: number;
  reaction_us?: number | null;
  side?: Side;
};

/** A hand on card `nth`, `reaction_us` after it was painted, both read on the phone's own clock. */
export type DoSlap = {
  t: "slap";
  game: number;
  nth: number;
  reaction_us?: number | null;
  side?: Side;
};

/** "Slapjack!" (R13): the call, `reaction_us` after card `nth` was painted. */
export type DoCall = {
  t: "call";
  game: number;
  nth: number;
  reaction_us?: number | null;
};

/** Let card `nth` pass (R19). */
export type DoCarryOn = {
  t: "carry_on";
  game: number;
  nth: number;
};

export type Seat = number;

/** The table's judge points at a winner (R18). */
export type Point = {
  t: "point";
  question: number;
  seat: Seat;
};

/** The host starts the game, or the next one now. */
export type Start = {
  t: "start";
};

/** The host holds the next deal, or lets it go on (R28). */
export type HoldDeal = {
  t: "hold_deal";
  on: boolean;
};

/** The host pauses the game, or lets it go on (R24). */
export type Pause = {
  t: "pause";
  on: boolean;
};

/** The host ends the game and has the cards counted (R12). */
export type EndGame = {
  t: "end_game";
};

/** Which game is played. */
export type GameName =
  | "slapjack"
  | "duel"
  | "war";

/** How a won pile goes under the winner's stack (R4). */
export type WonPile =
  | "shuffle_under"
  | "under"
  | "shuffle_in";

/** Where the card of a wrong slap goes (R7). */
export type Penalty =
  | "to_turner"
  | "under_pile";

/** With which hand the turner of a card may slap it (R15). */
export type WhichHand =
  | "any"
  | "other"
  | "same"
  | "not_turner";

/** Who decides what is too close to call (R18). */
export type JudgeOf =
  | "dealer"
  | "table";

/** How many cards each seat puts face down in a war (R22). */
export type WarCards =
  | "one"
  | "three";

/** One table's choices; the defaults are the standard game. Times end in their unit, 0 is off. */
export type Rules = {
  game: GameName;
  queens: boolean;
  doubles: boolean;
  sandwiches: boolean;
  won_pile: WonPile;
  penalty: Penalty;
  min_show_ms: number;
  slap_moment_ms: number;
  card_limit: number;
  time_limit_min: number;
  call: boolean;
  say_jack: boolean;
  wrong_call: boolean;
  hand: WhichHand;
  show_jacks: boolean;
  judge: JudgeOf;
  calm: boolean;
  ace_high: boolean;
  war_cards: WarCards;
  plain_names: boolean;
  reactions: boolean;
};

/** The host changes the rules, between games. */
export type SetRules = {
  t: "set_rules";
  rules: Rules;
};

/** The host seats a computer player (R31). */
export type AddComputer = {
  t: "add_computer";
  reaction_ms?: number;
  spread_ms?: number;
  slip_percent?: number;
};

export type SeatId = string;

/** The host has a computer player play otherwise, between games (R31). */
export type SetComputer = {
  t: "set_computer";
  seat: SeatId;
  reaction_ms?: number;
  spread_ms?: number;
  slip_percent?: number;
};

/**
 * The host chooses how many wins make a champion (R29, 0: open-ended), and whether the leaderboard counts games.
 *
 * Refused with `would_crown` where somebody has won so often already, unless `crown` says that this is meant.
 */
export type SetTable = {
  t: "set_table";
  first_to?: number;
  ranked?: boolean;
  crown?: boolean;
};

/**
 * The host removes a seat (R25), and whoever sat there stays out until they are let back in.
 *
 * With `if_away` only while they are away, which does not keep them from coming again.
 */
export type Remove = {
  t: "remove";
  seat: SeatId;
  if_away?: boolean;
};

/** The host lets somebody come back who was removed from that seat. */
export type LetBack = {
  t: "let_back";
  seat: SeatId;
};

/** The host gives a seat a handicap (R32). */
export type SetHandicap = {
  t: "set_handicap";
  seat: SeatId;
  ms: number;
};

/** The host locks the table to newcomers, or opens it. */
export type Lock = {
  t: "lock";
  on: boolean;
};

/** A new name and face. */
export type Rename = {
  t: "rename";
  name: string;
  face: string;
};

/** A spectator takes a seat; dealt in at the next game (R27). */
export type Sit = {
  t: "sit";
  name: string;
  face: string;
};

/**
 * Somebody who is in no game says that `seat`, whose phone is gone, is theirs; the host decides.
 *
 * They must have come after it was lost, one may ask for it at a time, and after a while the question goes away.
 */
export type Claim = {
  t: "claim";
  seat: SeatId;
};

/** The host gives a claimed seat to whoever claims it, with its cards and win score; or turns them away. */
export type GiveSeat = {
  t: "give_seat";
  seat: SeatId;
  yes: boolean;
};

/** What tournaments have ended here (R29)? Answered by `Tournaments`. */
export type AskTournaments = {
  t: "ask_tournaments";
};

/** Leave the table for good (R25). */
export type Quit = {
  t: "quit";
};

/** Show an emoji to the table. */
export type React = {
  t: "react";
  emoji: Emoji;
};

/**
 * You are in. `seat` is yours, or null when you watch. Keep `key`: it alone is the way back to your seat.
 *
 * The whole table and the game follow in the next frame.
 */
export type Welcome = {
  t: "welcome";
  code: string;
  key: string;
  seat: SeatId | null;
  room_us: number;
  protocol: number;
};

/** After `Sit`, or when the host has granted a `Claim`: the seat is yours, and your key is the way back to it. */
export type Seated = {
  t: "seated";
  seat: SeatId;
};

export type Card = string;

/** `face` lies on the pile as the game's `nth` card. */
export type CardTurned = {
  event: "card_turned";
  seat: Seat;
  nth: number;
  face: Card;
};

/** A seat has turned and the table waits for the other, so that both cards show at once (R21). */
export type SeatReady = {
  event: "seat_ready";
  seat: Seat;
};

/** The pile of `cards` cards, card `nth` on top, goes under a stack (R4). */
export type PileWon = {
  event: "pile_won";
  seat: Seat;
  nth: number;
  cards: number;
};

/** A hand on card `nth`, which was no slap card. The card it cost went to `to`, or under the pile (R7). */
export type WrongSlap = {
  event: "wrong_slap";
  seat: Seat;
  nth: number;
  paid: number;
  to: Seat | null;
};

/** A wrong call: the pile was dealt to the others (R14). `shares` has one number a seat. */
export type PileShared = {
  event: "pile_shared";
  seat: Seat;
  nth: number;
  shares: readonly number[];
};

/** The turner of the last card takes the pile as its stack (R10, R20). */
export type PileTakenBack = {
  event: "pile_taken_back";
  seat: Seat;
  cards: number;
};

/** A stack is empty and has a last chance (R8). */
export type SeatWaiting = {
  event: "seat_waiting";
  seat: Seat;
};

/** A seat that had no cards has some again (R7b, R8, R14). */
export type SeatBack = {
  event: "seat_back";
  seat: Seat;
};

/** A seat may only watch and judge from now on (R8, R25). */
export type SeatOut = {
  event: "seat_out";
  seat: Seat;
};

/** Only Jacks count and the other seat turns every card (R20). */
export type EliminationBegan = {
  event: "elimination_began";
  empty: Seat;
};

/** The normal game resumes (R20). */
export type EliminationEnded = {
  event: "elimination_ended";
};

/** Equal cards: `depth` 1 is a war, 2 a double war (R22). */
export type WarDeclared = {
  event: "war_declared";
  depth: number;
};

/** The higher card takes all that lies between the two (R21, R22). */
export type BattleWon = {
  event: "battle_won";
  seat: Seat;
  cards: number;
};

/** A person let the card pass (R19). */
export type CarriedOn = {
  event: "carried_on";
  seat: Seat;
  nth: number;
};

/** Why a game is over. */
export type End =
  | "last_seat"
  | "all_cards"
  | "card_limit"
  | "time_limit"
  | "host"
  | "too_long"
  | "duel_slap"
  | "no_cards";

/** The game is won, by several when they share it (R9, R12, R20, R23). */
export type GameOver = {
  event: "game_over";
  winners: readonly Seat[];
  end: End;
};

/** Where a seat stands (R8). */
export type Status =
  | "in_play"
  | "waiting"
  | "out";

/** A stack as the others see it: a number of cards and never which. */
export type SeatView = {
  cards: number;
  status: Status;
};

/** A card that everybody has seen turned. */
export type LandedCard = {
  nth: number;
  face: Card;
  seat: Seat;
};

/** What the table is waiting for. */
export type Wait =
  | "turn"
  | "last_hand"
  | "last_card"
  | "answers"
  | "over";

/**
 * What anybody may know of a game, built up from public facts: nothing hidden was ever in it.
 *
 * `pile` counts every card in the middle, `under` those of them that lie face down; `landed` has the last few
 * landed cards, top last. `empty` is the seat without cards in an elimination round (R20).
 */
export type GameView = {
  game: string;
  turned: number;
  seats: readonly SeatView[];
  pile: number;
  under: number;
  landed: readonly LandedCard[];
  wait: Wait;
  turners: readonly Seat[];
  answers: readonly Seat[];
  ready: readonly Seat[];
  empty: Seat | null;
  winners: readonly Seat[];
  end: End | null;
};

/**
 * What one hand was measured at: the evidence (R18, docs/fairness.md). All in microseconds.
 *
 * `reaction_us` is what the phone claimed, null where it had no usable stamps and the link alone decided.
 * `accepted_us` is what the dealer ranked: the claim, plus `added_us` that neither the link nor the lag credit bore
 * out, plus the handicap (R32). `credit_us` is the lag credit that the claim cost, `path_us` what the claim leaves for
 * the way here. `cover` marks a turn that would have covered the card.
 */
export type RankedSlap = {
  seat: Seat;
  reaction_us: number | null;
  accepted_us: number;
  path_us: number;
  added_us: number;
  credit_us: number;
  handicap_us: number;
  called: boolean;
  cover: boolean;
};

/**
 * Who was first on card `nth`. `hands` are in the dealer's order; `winner` is null when a turn came first.
 *
 * `margin_us` lies between the two best hands, `wait_us` between the first hand's arrival and the verdict.
 */
export type Verdict = {
  game: number;
  nth: number;
  winner: Seat | null;
  hands: readonly RankedSlap[];
  margin_us: number | null;
  wait_us: number;
};

/**
 * Too close to call, and the table judges (R18): somebody out or watching says which of `seats`, by `until_us`.
 *
 * `hands` is the evidence. No answer in time: the dealer decides.
 */
export type Question = {
  id: number;
  game: number;
  nth: number;
  seats: readonly [Seat, Seat];
  hands: readonly RankedSlap[];
  until_us: number;
};

/** What the table is doing. */
export type Stage =
  | "lobby"
  | "playing"
  | "break";

/** Who sits there. */
export type Kind =
  | "person"
  | "computer";

/** How somebody did in the last game: hands that counted, their average and best reaction, wrong slaps. */
export type Tally = {
  slaps: number;
  average_ms: number;
  best_ms: number;
  wrong: number;
};

/**
 * One seat as everybody sees it. `place` is its `Seat` in the running game, null where it was not dealt in.
 *
 * `tally` is there between games. `claimed`: somebody says that they are the person of this seat (`Claim`).
 * `program`: its owner says that it is one.
 */
export type TableSeat = {
  id: SeatId;
  name: string;
  face: string;
  kind: Kind;
  place: Seat | null;
  host: boolean;
  away: boolean;
  wins: number;
  rtt_ms: number;
  handicap_ms: number;
  reaction_ms: number;
  tally: Tally | null;
  claimed: boolean;
  program: boolean;
  spread_ms: number;
  slip_percent: number;
};

/** A win score at this table, of somebody who may not be here now; `seat` is theirs where they are (R28). */
export type Standing = {
  name: string;
  face: string;
  wins: number;
  games: number;
  seat: SeatId | null;
};

/** Somebody whom the host has removed from `seat`, and who stays out until let back in. */
export type Removed = {
  seat: SeatId;
  name: string;
  face: string;
};

/**
 * The table around the game; `game` counts the games played here. `winners` won the last one.
 *
 * `next_deal_us` is the moment of the next deal in a break, 0 where there is none. `asleep`: every person is away
 * and the game stands still (R24). `deserted`: everybody else who played is away or has left, and the next deal waits
 * for the host (R28). `champions` have just won a tournament of `first_to` wins (R29). `standings` are there between
 * games, best first. `removed` are those whom the host has removed.
 */
export type TableView = {
  code: string;
  stage: Stage;
  game: number;
  rules: Rules;
  seats: readonly TableSeat[];
  watching: number;
  locked: boolean;
  paused: boolean;
  held: boolean;
  dealer: SeatId | null;
  winners: readonly SeatId[];
  next_deal_us: number;
  asleep: boolean;
  first_to: number;
  ranked: boolean;
  champions: readonly SeatId[];
  standings: readonly Standing[];
  removed: readonly Removed[];
  deserted: boolean;
};

/**
 * What has happened, to be shown at `show_at_us` on the room's clock and in order; 0 is at once.
 *
 * `n` counts the updates of a room: a gap means that something was missed, and the phone joins again. A part that
 * has not changed is null. The events belong to the game whose state after them is `view`. Where `say_shown` is false
 * no hand on its card will be judged, and nobody needs to hear that the card is painted.
 */
export type Update = {
  t: "update";
  n: number;
  show_at_us: number;
  events: readonly AnyEvent[];
  view: GameView | null;
  verdict: Verdict | null;
  question: Question | null;
  table: TableView | null;
  say_shown: boolean;
};

/** The room's clock, in answer to `Sync`. */
export type Synced = {
  t: "synced";
  sent_us: number;
  room_us: number;
};

/**
 * The dealer asks whether a hand on card `nth` has come down there; the page itself answers, with `AllSaid`.
 *
 * A phone is asked that may still be earlier than the hands that the dealer has heard of. Its pongs do not know of a
 * hand that a busy page has not come to yet.
 */
export type AnyHand = {
  t: "any_hand";
  game: number;
  nth: number;
};

/** The server waits for its store and the table with it; `on` is false when it goes on. */
export type StoreStalled = {
  t: "store_stalled";
  on: boolean;
};

/** Somebody shows an emoji; `seat` is null for somebody watching. */
export type Reacted = {
  t: "reacted";
  seat: SeatId | null;
  emoji: Emoji;
};

/** For the host alone: the hands of `seat` are not what people's are; honest ones look so once in `one_in` runs. */
export type SuspectFlagged = {
  t: "suspect_flagged";
  seat: SeatId;
  one_in: number;
};

/**
 * For the host alone: who says that `seat` is theirs, and until when the host may answer with `GiveSeat`.
 *
 * `since_us` is when they came to the table. `same_network`: they come from the network from which that seat came
 * last; null where that is not known any more.
 */
export type SeatClaimed = {
  t: "seat_claimed";
  seat: SeatId;
  name: string;
  face: string;
  since_us: number;
  until_us: number;
  same_network: boolean | null;
};

/** A tournament to `first_to` wins (0 where that was not kept), after so many games; `standings` best first. */
export type EndedTournament = {
  first_to: number;
  games: number;
  standings: readonly Standing[];
};

/** The last tournaments that have ended at this table, the latest first (R29); the answer to `AskTournaments`. */
export type Tournaments = {
  t: "tournaments";
  ended: readonly EndedTournament[];
};

/**
 * The message of kind `of` changed nothing.
 *
 * `reason` is a `RejectReason` or an engine `Reason`, `rule` a rule number.
 */
export type Refused = {
  t: "refused";
  of: string;
  reason: string;
  rule: string;
  detail: string;
};

/** Why the server or the game did not do as asked; the words for people are the client's. */
export type RejectReason =
  | "not_seated"
  | "not_host"
  | "not_playing"
  | "already_playing"
  | "already_joined"
  | "already_seated"
  | "join_first"
  | "other_game"
  | "too_late"
  | "too_few"
  | "too_many"
  | "table_full"
  | "table_locked"
  | "no_such_seat"
  | "bad_name"
  | "bad_rules"
  | "paused"
  | "no_question"
  | "too_soon"
  | "reactions_off"
  | "removed"
  | "not_away"
  | "would_crown"
  | "already_claimed"
  | "came_before";

/** Why a move is refused. A refused move changes nothing and costs nothing. */
export type Reason =
  | "game_over"
  | "no_such_seat"
  | "not_your_turn"
  | "other_turn"
  | "table_waits"
  | "seat_out"
  | "nothing_to_slap"
  | "no_such_card"
  | "covered"
  | "pile_gone"
  | "already_paid"
  | "not_called"
  | "same_hand"
  | "other_hand"
  | "turner"
  | "no_slaps"
  | "nothing_to_answer"
  | "nothing_to_pass"
  | "no_limit";

/** Close codes of our own; the reason text says the same in words, for `MOVED` it is a server's name (P4). */
export const CloseCode = {
  MOVED: 4307,
  MALFORMED: 4400,
  FOREIGN_ORIGIN: 4403,
  NO_SUCH_TABLE: 4404,
  JOIN_TIMEOUT: 4408,
  SEAT_TAKEN_OVER: 4409,
  REMOVED: 4410,
  TOO_SLOW: 4413,
  WRONG_VERSION: 4426,
  TOO_MANY: 4429,
  ROOM_FAILED: 4500,
  SERVER_FULL: 4503,
  STORE_DOWN: 4504,
} as const;

/** Who you are. `linked` says that this device was moved to a person of another; `devices` were moved to yours. */
export type Me = {
  key: string;
  name: string;
  face: string;
  linked: boolean;
  devices: number;
  recovery: boolean;
};

/** Whom this device was before it was moved. */
export type Previous = {
  name: string;
  face: string;
};

/** Who you are now, and who this device was: they stay as they are, and `POST /api/me/unlink` leads back to them. */
export type MoveResult = {
  me: Me;
  was: Previous | null;
};

/** What a board ranks by, and the figures in the order in which they are shown. */
export type By =
  | "wins"
  | "rate"
  | "best"
  | "median"
  | "streak"
  | "games";

/** What time a board is about. */
export type Span =
  | "all"
  | "month"
  | "week";

/**
 * One person's figures; reactions in microseconds, None without any.
 *
 * Equal figures share a rank; it is None where the person is not on this board: no reaction, no win, too few games.
 * A server of another version may tell more figures, or fewer.
 */
export type Row = {
  rank: number | null;
  name: string;
  face: string;
  you: boolean;
  games: number;
  wins: number;
  rate: number | null;
  streak: number;
  best_us: number | null;
  median_us: number | null;
};

/**
 * One page of a board, counted from 1, of `pages`; `people` are on the board. `you` is the asker's own row.
 *
 * `at` is asked with for the next page, 0 where there is none. `ends_s` is when the week or month ends, in seconds
 * since 1970, and 0 for all time.
 */
export type Page = {
  people: number;
  pages: number;
  rows: readonly Row[];
  you: Row | null;
  at: number;
  ends_s: number;
};

export type ClientMessage =
  | Join
  | Sync
  | Shown
  | AllSaid
  | DoTurn
  | DoSlap
  | DoCall
  | DoCarryOn
  | Point
  | Start
  | HoldDeal
  | Pause
  | EndGame
  | SetRules
  | AddComputer
  | SetComputer
  | SetTable
  | Remove
  | LetBack
  | SetHandicap
  | Lock
  | Rename
  | Sit
  | Claim
  | GiveSeat
  | AskTournaments
  | Quit
  | React;

export type ServerMessage =
  | Welcome
  | Seated
  | Update
  | Synced
  | AnyHand
  | StoreStalled
  | Reacted
  | SuspectFlagged
  | SeatClaimed
  | Tournaments
  | Refused;

export type AnyEvent =
  | CardTurned
  | SeatReady
  | PileWon
  | WrongSlap
  | PileShared
  | PileTakenBack
  | SeatWaiting
  | SeatBack
  | SeatOut
  | EliminationBegan
  | EliminationEnded
  | WarDeclared
  | BattleWon
  | CarriedOn
  | GameOver;
