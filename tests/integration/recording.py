"""Checks what the recording sink (tests/support/recording.c) wrote down."""

import collections


class Recording:
    """One job with that sink, which goes on, run by run, where it was killed.

    No record missed: in the end each offset of each partition was seen. Doubles only within the last unsaved batch: a
    run starts at the stored offset, sees each record once, and every record above the offset that is stored when it has
    died lies in one range, which starts at just that offset.

    `stored()` gives what the store holds, as partition -> offset.
    """

    def __init__(self, file, stored):
        self.file = file
        self.read_stored = stored
        self.read = 0
        self.seen = collections.defaultdict(set)  # by partition
        self.stored = {}  # what was stored before the run that is checked
        self.doubles = 0

    def new_lines(self):
        """What was written since the last call, as partition -> [(from, until, offset)]. A line that was cut counts not."""
        lines = collections.defaultdict(list)
        if not self.file.exists():
            return lines
        with open(self.file, "rb") as file:
            file.seek(self.read)
            data = file.read()
        whole = data[:data.rfind(b"\n") + 1]
        if whole != data:
            with open(self.file, "r+b") as file:
                file.truncate(self.read + len(whole))
        self.read += len(whole)
        for line in whole.splitlines():
            _, _, *numbers = line.split()
            partition, first, until, offset = map(int, numbers)
            lines[partition].append((first, until, offset))
        return lines

    def check_run(self):
        stored = self.read_stored()
        for partition, lines in self.new_lines().items():
            offsets = [offset for _, _, offset in lines]
            before, after = self.stored.get(partition, 0), stored.get(partition, 0)
            assert offsets == list(range(before, before + len(offsets))), f"partition {partition}: not once, in order"
            assert all(first <= offset < until for first, until, offset in lines)
            unsaved = {(first, until) for first, until, offset in lines if offset >= after}
            assert len(unsaved) <= 1, f"partition {partition}: more than one batch was not saved: {unsaved}"
            assert all(first == after for first, _ in unsaved), f"partition {partition}: {unsaved}, stored {after}"
            assert before <= after
            self.doubles += len(self.seen[partition] & set(offsets))
            self.seen[partition] |= set(offsets)
        for partition, offset in stored.items():
            assert self.seen[partition] >= set(range(offset)), f"partition {partition}: saved and never handed over"
        self.stored = stored

    def check_end(self, count):
        assert sum(self.stored.values()) == count
        assert sum(len(offsets) for offsets in self.seen.values()) == count
