"""Ctrl-C while a turn is shown."""

import signal
import threading

from pegboard import NoAnswer, Refused

from .screen import Screen


class CtrlC:
    """While a turn is shown, the first Ctrl-C stops the turn, and the second one ends the program."""

    def __init__(self, screen: Screen, stop):
        self.screen, self.stop, self.pressed = screen, stop, False

    def __enter__(self):
        self.before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self.before)

    def _on_signal(self, *_):
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
        self.screen.note("stopping (Ctrl-C again ends the program)")
        # The stream is still read, because it tells how the turn ends.
        threading.Thread(target=self._stop, daemon=True).start()

    def _stop(self) -> None:
        try:
            self.stop()
        except (Refused, NoAnswer) as error:
            self.screen.error(str(error))
