// Names of Rust.
#![no_std]
#![no_main]
pub mod inner {
    pub struct Thing(pub u32);
    pub trait Grow { fn grow(&self, by: u32) -> u32; }
    impl Grow for Thing {
        #[inline(never)]
        fn grow(&self, by: u32) -> u32 { self.0.wrapping_add(by) }
    }
    impl Thing {
        #[inline(never)]
        pub fn new(n: u32) -> Thing { Thing(n ^ 5) }
    }
    #[inline(never)]
    pub fn same<T: Copy>(x: &T) -> T { *x }
}
use inner::Grow;
#[no_mangle]
pub extern "C" fn _start() -> u32 { inner::same(&core::hint::black_box(inner::Thing::new(core::hint::black_box(1))).grow(2)) + inner::same(&1u64) as u32 }
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
