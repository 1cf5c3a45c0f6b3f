# SPDX-License-Identifier: GPL-2.0
"""Classes whose methods C code calls. calls-truth.py uses them.

A function p_KIND_of_round uses each class.
"""

import gc
import pickle
import sqlite3


def work(n=300):
    total = 0
    for i in range(n):
        total += i ^ 5
    return total


class Less:
    def __init__(self, n):
        self.n = n

    def c_less_of_order(self, other):
        work(10)
        return self.n < other.n

    __lt__ = c_less_of_order


def p_order_of_round():
    sorted([Less(i * 7 % 31) for i in range(31)])


class Attribute:
    def c_attribute_of_attributes(self, name):
        work(40)
        return name

    __getattr__ = c_attribute_of_attributes


def p_attributes_of_round():
    a = Attribute()
    for _ in range(30):
        a.x


class Next:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def c_next_of_iterate(self):
        work(20)
        self.n += 1
        if self.n > 30:
            raise StopIteration
        return self.n

    __next__ = c_next_of_iterate


def p_iterate_of_round():
    return list(Next())


class Key:
    def c_hash_of_keys(self):
        work(20)
        return 1

    def c_equal_of_keys(self, other):
        work(20)
        return self is other

    __hash__ = c_hash_of_keys
    __eq__ = c_equal_of_keys


def p_keys_of_round():
    return dict.fromkeys([Key() for _ in range(8)])


class Missing(dict):
    def c_missing_of_misses(self, key):
        return work(40)

    __missing__ = c_missing_of_misses


def p_misses_of_round():
    m = Missing()
    for i in range(30):
        m[i]


class Finalised:
    def c_del_of_finalise(self):
        work(60)

    __del__ = c_del_of_finalise


def p_finalise_of_round():
    for _ in range(20):
        Finalised()


class Ring:
    def c_collected_of_collect(self):
        work(60)

    __del__ = c_collected_of_collect


def p_collect_of_round():
    for _ in range(10):
        a = Ring()
        a.a = a
    del a
    gc.collect(0)


class Context:
    def l_enter_of_context(self):
        return work(100)

    def l_exit_of_context(self, *a):
        return work(100)

    __enter__ = l_enter_of_context
    __exit__ = l_exit_of_context


def p_context_of_round():
    with Context():
        work(100)


class Pickled:
    def c_reduce_of_pickles(self):
        work(60)
        return (int, (1,))

    __reduce__ = c_reduce_of_pickles


def p_pickles_of_round():
    return pickle.dumps([Pickled() for _ in range(20)])


class Aggregate:
    def c_step_of_aggregate(self, x):
        work(30)

    def c_final_of_aggregate(self):
        return work(60)

    step = c_step_of_aggregate
    finalize = c_final_of_aggregate


def c_collate_of_aggregate(a, b):
    work(20)
    return (a > b) - (a < b)


def p_aggregate_of_round():
    db = sqlite3.connect(":memory:")
    db.create_aggregate("g", 1, Aggregate)
    db.create_collation("c", c_collate_of_aggregate)
    db.execute("CREATE TABLE t (x TEXT)")
    db.executemany("INSERT INTO t VALUES (?)", [(str(i * 7 % 41),) for i in range(41)])
    db.execute("SELECT g(x) FROM t").fetchall()
    db.execute("SELECT x FROM t ORDER BY x COLLATE c").fetchall()
    db.close()


class Meta(type):
    def c_made_of_classes(cls, name, bases, namespace):
        work(100)

    __init__ = c_made_of_classes


def p_classes_of_round():
    Meta("A", (), {})


def p_slots_of_round():
    class Body:
        total = work(200)
    return Body


class Property:
    @property
    def l_property_of_properties(self):
        return work(60)

    @staticmethod
    def p_static_of_properties():
        return work(60)

    @classmethod
    def p_class_of_properties(cls):
        return work(60)


def p_properties_of_round():
    p = Property()
    for _ in range(20):
        p.l_property_of_properties
        p.p_static_of_properties()
        p.p_class_of_properties()


class Tree:
    def l_text_of_format(self, spec=""):
        return str(work(60))

    __format__ = l_text_of_format
    __str__ = l_text_of_format


def p_format_of_round():
    t = Tree()
    return f"{t} {t!s} %s" % t + "%s{}".format(t)
