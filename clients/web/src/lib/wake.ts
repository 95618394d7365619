// Keeps the screen on while there is a table to watch. Where the browser withholds its own way (plain HTTP), a silent
// looping video does it. Both may be refused: then the screen goes dark as it always does, and nothing breaks.

import film from "../assets/awake.mp4";

/** Keeps the screen on from now, or from the next tap where a tap is wanted. Gives what lets it go dark again. */
export function stayAwake(): () => void {
  let lock: WakeLockSentinel | null = null;
  let video: HTMLVideoElement | null = null;
  let over = false;

  async function hold(): Promise<void> {
    if (over || document.hidden || (lock && !lock.released)) return;
    if ("wakeLock" in navigator) {
      try {
        lock = await navigator.wakeLock.request("screen");
        if (over) await lock.release();
      } catch {
        lock = null;
      }
      return;
    }
    video ??= Object.assign(document.createElement("video"), { src: film, loop: true, muted: true, playsInline: true });
    await video.play().catch(() => undefined);
  }

  const again = (): void => void hold();
  document.addEventListener("visibilitychange", again);
  document.addEventListener("pointerdown", again);
  again();
  return () => {
    over = true;
    document.removeEventListener("visibilitychange", again);
    document.removeEventListener("pointerdown", again);
    void lock?.release().catch(() => undefined);
    video?.pause();
  };
}
