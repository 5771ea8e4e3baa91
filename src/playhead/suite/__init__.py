"""Recordings as a regression suite: a curated folder of them, what became of each against the present code."""

from playhead.suite._accepting import Accepted, Change, find_change, keep_before
from playhead.suite._fixtures import Fixture, find_root, read_suite, with_match
from playhead.suite._moving import move_entry
from playhead.suite._reports import as_junit, as_markdown, github_annotations, problem_text
from playhead.suite._settings import SuiteSettings, read_suite_settings
from playhead.suite._verdicts import Problem, Result, Summary, failed_result, judge_replay, shown_path

__all__ = [
    "Accepted",
    "Change",
    "Fixture",
    "Problem",
    "Result",
    "SuiteSettings",
    "Summary",
    "as_junit",
    "as_markdown",
    "failed_result",
    "find_change",
    "find_root",
    "github_annotations",
    "judge_replay",
    "keep_before",
    "move_entry",
    "problem_text",
    "read_suite",
    "read_suite_settings",
    "shown_path",
    "with_match",
]
