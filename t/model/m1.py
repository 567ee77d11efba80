from bfs import *
import sys
# names: (dir,f,lo,hi,n) ; hold: ('hold',f,lo,hi,src,goal)
def sz(x): return x[3]-x[2]
def msgs(x): return frozenset((x[1],m) for m in range(x[2],x[3]))
FLAGMODE='always'   # always | flag
def recover():
    hs=yield('ls','hold')
    for h in hs:
        there=yield('stat',h[4])
        if there: yield('unl',h)
        elif h[5]=='gone': yield('unl',h,msgs(h))
        else: yield('ren',h,h[5])
def lockrec():
    yield('lock','q'); yield from recover()
def split(src,mlo,mhi,stay,goal,gh=None):
    h=('hold',src[1],mlo,mhi,src,goal)
    r=yield('link',src,h)
    if r!='ok': return 'ENOENT'
    r=yield('ren',src,stay)
    if r!='ok':
        yield('unl',h); return 'ENOENT'
    if goal=='gone':
        yield ('unl',h,gh)
    else: yield('ren',h,goal)
    return 'ok'
def scan(mode):
    a=yield('ls','new')
    if mode=='atomic': return a
    b=yield('ls','new')
    if a==b: return a
    i=tuple(x for x in a if x in b)
    c=yield('choose',('i','b'))
    return i if c=='i' else b
def T(rounds,scanmode,emptymode,end):
    k=0
    while k<rounds:
        k+=1
        yield('begin',)
        got=None; looks=0
        while True:
            s=yield from scan(scanmode)
            if not s:
                looks+=1
                if emptymode=='once': break
                if emptymode=='twice':
                    if looks<2: continue
                    yield from lockrec(); yield('unlock','q')   # looks into hold
                    break
                if emptymode=='scanhold':   # recover, then look (unlocked)
                    if looks<2:
                        yield from lockrec(); yield('unlock','q'); continue
                    break
                if emptymode=='lock':
                    yield from lockrec()
                    s=yield from scan(scanmode)
                    yield('unlock','q')
                    if not s: break
            looks=0
            x=s[0]
            if sz(x)==1:
                c=('cur',x[1],x[2],x[3],x[4]+1)
                r=yield('ren',x,c)
                if r=='ok': got=c;break
            else:
                yield from lockrec()
                c=('cur',x[1],x[2],x[2]+1,x[4]+1)
                r=yield from split(x,x[2],x[2]+1,('new',x[1],x[2]+1,x[3],x[4]),c)
                yield('unlock','q')
                if r=='ok': got=c;break
        if got is None:
            yield('empty',);
        else:
            s=x=c=r=None
            a=yield('choose',end)
            if a=='ack': yield('unl',got,msgs(got))
        s=x=c=r=got=None
def B(end):
    # whole-range take, then ack whole / halve / partial ack
    s=yield('ls','new')
    if not s: return
    x=s[0]; c=('cur',x[1],x[2],x[3],x[4]+1); s=None
    if sz(x)==1:
        r=yield('ren',x,c)
    else:
        yield from lockrec(); r=yield('ren',x,c); yield('unlock','q')
    if r!='ok': return
    x=r=None
    a=yield('choose',end)
    if a=='stall': return
    if sz(c)==1:
        yield('unl',c,msgs(c)); return
    if a=='ack':
        yield from lockrec(); yield('unl',c,msgs(c)); yield('unlock','q'); return
    if a=='pack':  # partial ack of the first: split with goal "gone"
        yield from lockrec()
        st=('cur',c[1],c[2]+1,c[3],c[4])
        r=yield from split(c,c[2],c[2]+1,st,'gone',frozenset([(c[1],c[2])]))
        yield('unlock','q')
        return
    if a=='halve':
        yield from lockrec()
        mid=(c[2]+c[3])//2
        h1=('cur',c[1],c[2],mid,c[4]); h2=('cur',c[1],mid,c[3],c[4])
        r=yield from split(c,mid,c[3],h1,h2)
        yield('unlock','q')
        if r!='ok': return
        for h in (h1,h2):
            if sz(h)==1: yield('unl',h,msgs(h))
            else:
                yield from lockrec(); yield('unl',h,msgs(h)); yield('unlock','q')
def SW(rounds,locked=True):
    k=0
    while k<rounds:
        k+=1
        s=yield('ls','cur')
        if not s: continue
        x=yield('choose',s)
        s=None
        n=('new',)+x[1:]
        if sz(x)==1 or not locked: yield('ren',x,n)
        else:
            yield from lockrec(); yield('ren',x,n); yield('unlock','q')
        x=n=None
def FIN(files):
    yield('final',)
    yield from lockrec()
    s=yield('ls','hold')
    if s: yield('viol','hold not empty at the end')
def ready(fs): return frozenset(m for x in fs if x[0]=='new' for m in msgs(x))
def mkinv(all_):
    def inv(fs,gh):
        cov={}
        for x in fs:
            if x[0] in('new','cur'):
                for m in msgs(x):
                    if m in cov: return 'two live names for one message: %s %s'%(cov[m],x)
                    if m in gh: return 'acked message is back: %s'%(x,)
                    cov[m]=x
        for m in all_:
            if m not in gh and m not in cov and not any(x[0]=='hold' and m in msgs(x) for x in fs): return 'lost: %s'%(m,)
    return inv
def files(spec):
    fs=frozenset(('new',f,0,n,0) for f,n in spec); return fs,[(f,m) for f,n in spec for m in range(n)]
def go(name,spec,procs,cr,**k):
    fs,al=files(spec)
    return run(procs+[(FIN,0)],fs,cr,ready=ready,inv=mkinv(al),name=name,**k)
if __name__=='__main__':
    E=('ack','stall')
    for w in sys.argv[1:] or 'abcdef':
        if w=='a': go('1a A3+B1 T,T,SW2 crash1 atomic scan, empty under lock',[('A',3),('B',1)],[(T,1,'atomic','lock',E),(T,1,'atomic','lock',E),(SW,2)],1)
        if w=='b': go('1b A2+B2 T,B,SW2 crash1',[('A',2),('B',2)],[(T,1,'atomic','lock',E),(B,('ack','halve','pack','stall')),(SW,2)],1)
        if w=='c': go('1c A3 T,B,SW2 crash2',[('A',3)],[(T,1,'atomic','lock',E),(B,('ack','halve','pack','stall')),(SW,2)],2)
        if w=='d':
          for em in('once','twice','scanhold','lock'):
            go('1d A3 nonatomic readdir, empty mode '+em,[('A',3)],[(T,1,'na',em,('ack',)),(T,2,'atomic','lock',('ack',)),],0,nocrash=())
        if w=='e': go('1e unlocked return of ranges',[('A',3)],[(T,1,'atomic','lock',E),(B,('ack','halve','pack','stall')),(SW,2,False)],1)
        if w=='f': go('1f A2 T2,T2,SW2 crash1',[('A',2)],[(T,2,'atomic','lock',E),(T,1,'atomic','lock',E),(SW,2)],1)
