// SPDX-License-Identifier: GPL-2.0
//! Rust: a sort with a closure, a call through a trait object, a panic that is
//! caught or, built with panic=abort, none. What stands behind TRUTH: is for
//! check-chains.

use std::arch::asm;
use std::time::{Duration, Instant};

/// A value that the compiler can't know.
#[inline(always)]
fn black_box<T>(value: T) -> T {
    unsafe { asm!("/* {0} */", in(reg) &value, options(nostack)) };
    value
}

#[inline(always)]
fn spin(n: u64) {
    unsafe { asm!("2:", "sub {0}, 1", "jnz 2b", inout(reg) n => _, options(nostack)) };
}

// TRUTH: rust::compare_leaf rust::compare
#[inline(never)]
fn compare_leaf(a: &u64, b: &u64) -> std::cmp::Ordering {
    spin(20);
    a.cmp(b)
}

// TRUTH: rust::compare rust::sort_them via tail
#[inline(never)]
fn compare(a: &u64, b: &u64) -> std::cmp::Ordering {
    let order = compare_leaf(a, b);
    spin(5);
    order
}

// TRUTH: rust::sort_them rust::into_vec libc
#[inline(never)]
fn sort_them(table: &mut Vec<u64>) {
    table.sort_by(compare);
    black_box(&table);
}

// TRUTH: rust::sorting rust::main
#[inline(never)]
fn sorting() {
    let mut table = [0u64; 256];
    for i in 0..256 {
        table[i] = black_box(i as u64 * 7919 % 251);
    }
    into_vec(&table);
    spin(50);
}

// TRUTH: rust::into_vec rust::sorting libc
#[inline(never)]
fn into_vec(table: &[u64; 256]) {
    let mut sorted = make_vec(table);
    sort_them(&mut sorted);
    drop_vec(sorted);
}

// TRUTH: rust::make_vec rust::into_vec libc
#[inline(never)]
fn make_vec(table: &[u64; 256]) -> Vec<u64> {
    table.to_vec()
}

// TRUTH: rust::drop_vec rust::into_vec libc
#[inline(never)]
fn drop_vec(table: Vec<u64>) {
    drop(table);
}

trait Shape {
    fn area(&self, n: u64) -> u64;
}

struct Square(u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: u64) -> u64 {
        let got = area_leaf(n);
        spin(5);
        got + self.0
    }
}

// TRUTH: rust::area_leaf <rust::Square
#[inline(never)]
fn area_leaf(n: u64) -> u64 {
    spin(50);
    black_box(n)
}

// TRUTH: <rust::Square rust::call_area indirect
// TRUTH: rust::call_area rust::main
#[inline(never)]
fn call_area(shape: &dyn Shape) {
    for i in 0..200 {
        black_box(shape.area(i));
    }
}

// TRUTH: rust::panic_leaf rust::panic_mid libc
#[inline(never)]
fn panic_leaf(n: u64) {
    spin(200);
    if cfg!(panic = "unwind") && black_box(n) > 0 {
        std::panic::resume_unwind(Box::new(n));
    }
}

// TRUTH: rust::panic_mid rust::catching via tail
#[inline(never)]
fn panic_mid(n: u64) {
    panic_leaf(n);
    spin(20);
}

// TRUTH: rust::catching rust::main libc
#[inline(never)]
fn catching() {
    for i in 0..4 {
        let _ = black_box(std::panic::catch_unwind(|| panic_mid(i)));
    }
}

// TRUTH: rust::main @start libc
fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        sorting();
        call_area(&Square(black_box(3)));
        catching();
    }
}
