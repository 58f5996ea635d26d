"""LibreTranslate for tools/serve_peers.sh, without the models that it fetches to find sentences: texts are one sentence."""
import sys

try:
    from argostranslate import sbd, translate
except ImportError as missing:
    sys.exit(f"serve_libre: {missing}")


class Whole(sbd.ISentenceBoundaryDetectionModel):
    def __init__(self, pkg):
        self.pkg = pkg

    def split_sentences(self, text):
        return [text]


translate.MiniSBDSentencizer = sbd.MiniSBDSentencizer = Whole
from libretranslate.main import main  # noqa: E402

main()
